"""What the compiled loop must know of a game that somebody else steps: SPEC and OBSERVATION are bound, and no rule."""
