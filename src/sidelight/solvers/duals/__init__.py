"""Shared code of margin solvers: working sets of cuts, their products, and ascent in their duals."""
