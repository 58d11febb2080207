"""Estimators: shells over one fit, for each structure."""
