"""Pages that stand alone: one HTML file each, with its pictures in it."""
