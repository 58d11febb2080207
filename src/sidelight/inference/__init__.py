"""The best output of one input where rules must, or should, be obeyed: one method a file, and the choice of it."""
