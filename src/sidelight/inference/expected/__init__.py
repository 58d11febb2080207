"""Beliefs under rules: dual ascent and linear programs over expectations."""
