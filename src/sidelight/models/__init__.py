"""Trained predictors, their files, and analyses of them."""
