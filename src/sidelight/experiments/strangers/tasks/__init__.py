"""The corpora of the study: their rules and labelling functions."""
