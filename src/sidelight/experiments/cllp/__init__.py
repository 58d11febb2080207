"""Learning from candidate labels."""
