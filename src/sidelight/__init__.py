"""Structured predictors learned from whatever supervision there is."""
