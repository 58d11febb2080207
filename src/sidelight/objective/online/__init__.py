"""Epochs of online learners."""
