"""Tools for players of Balatro, based on the rules of the game: contents of a seed, and a score calculator."""
