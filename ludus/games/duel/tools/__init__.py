"""Tools around the duel: reports, recorded duels, and comparison with the real core."""
