"""Estimators: one for each kind of output, around a common fit."""
