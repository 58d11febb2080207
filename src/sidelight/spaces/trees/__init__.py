"""Dependency trees, projective and not."""
