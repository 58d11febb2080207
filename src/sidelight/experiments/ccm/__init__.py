"""Constrained conditional models."""
