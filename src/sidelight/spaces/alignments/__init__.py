"""Alignments of strings and of graphs."""
