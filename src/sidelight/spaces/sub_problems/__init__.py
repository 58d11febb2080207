"""Outputs of sub-problems that rules tie: listed, or types of entities and relations of their pairs."""
