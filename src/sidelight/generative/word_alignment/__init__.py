"""Word alignment: translation tables, the HMM of jumps, EM with agreement."""
