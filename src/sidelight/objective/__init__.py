"""Objectives: losses of evidence over spaces, which a solver sees only through cuts."""
