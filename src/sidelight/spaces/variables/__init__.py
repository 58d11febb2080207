"""Variables that are scored one by one and in pairs."""
