"""Shared code of commands."""
