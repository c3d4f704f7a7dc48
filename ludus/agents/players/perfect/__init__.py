"""Perfect players, which always achieve the best possible result: a reference for trained agents."""
