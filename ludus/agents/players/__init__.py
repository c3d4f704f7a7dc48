"""Players that need no training: random, scripted, greedy, expert, perfect, and a person."""
