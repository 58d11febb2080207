"""Dual variables of exponentiated gradient, by batch and by chain."""
