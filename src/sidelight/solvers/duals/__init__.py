"""What margin solvers share: working sets of cuts, their products, and ascent in their duals."""
