"""From encoded evidence to a learner, one family of recipes per file."""
