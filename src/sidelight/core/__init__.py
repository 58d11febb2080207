"""Shared tools: arrays, checks, kernels, records, progress."""
