"""From weights to scores and back, one file per structure."""
