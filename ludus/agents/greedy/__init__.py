"""Players that take what is best right now, by simple rules."""
