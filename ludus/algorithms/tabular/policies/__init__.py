"""Exploration policies: `choose` selects an action by a row of values; `expected` is the mean value under it."""
