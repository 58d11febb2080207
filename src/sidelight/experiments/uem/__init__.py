"""Unified EM."""
