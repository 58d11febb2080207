"""One file per lowering of a rule: truth, dynamic programs, linear programs, beliefs, penalties."""
