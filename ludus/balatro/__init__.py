"""Two tools for players of Balatro, both by the rules of the game itself: what a seed holds, and what a hand scores."""
