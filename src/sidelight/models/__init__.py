"""Trained predictors, their files, and what can be asked of them."""
