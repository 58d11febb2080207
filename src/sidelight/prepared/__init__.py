"""Evidence that is larger than memory: its features in files, block by block."""
