"""Methods of inference under rules, one per file, and the choice among them."""
