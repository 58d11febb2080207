"""Chains of first order."""
