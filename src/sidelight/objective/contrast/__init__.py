"""Contrastive estimation: an input against its neighbourhood."""
