"""Players that take the best action for the moment, by simple rules."""
