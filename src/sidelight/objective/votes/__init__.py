"""Votes of labelling functions, and how far each function is trusted."""
