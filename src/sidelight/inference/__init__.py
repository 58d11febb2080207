"""The best output of one input under hard and soft rules: one method per file, and the choice among them."""
