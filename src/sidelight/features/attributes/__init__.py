"""Features that users name themselves: dicts and lists of attributes."""
