"""Joint learning with indirect supervision."""
