"""Features of segments: keys, rows, sources and counts."""
