"""The best output of one input where rules must, or should, be obeyed: one method per file, and the choice among them."""
