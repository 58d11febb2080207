"""Self-contained pages: one HTML file each, including its pictures."""
