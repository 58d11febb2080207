"""Features of words: templates, keys, shapes and classes of words."""
