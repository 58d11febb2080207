"""One algorithm per file, its problem and its paper on top."""
