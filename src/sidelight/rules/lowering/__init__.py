"""One file per reading of a rule: truth, dynamic programs, linear programs, beliefs, penalties."""
