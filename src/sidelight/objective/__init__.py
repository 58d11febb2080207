"""Evidence meets space: losses that a solver sees only through cuts."""
