"""Evidence larger than memory: its features are in files, block by block."""
