"""Sequences as lattices: best paths, search over layers, A*."""
