"""Template of the rules of a game that its own pool steps: SPEC and OBSERVATION are bound; there are no rules."""
