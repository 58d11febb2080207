"""Segmentations."""
