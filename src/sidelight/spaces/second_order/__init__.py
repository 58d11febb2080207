"""Chains of second order."""
