"""Solvers: one algorithm per file, with its problem and its paper at the top."""
