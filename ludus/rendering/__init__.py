"""Images of games, plots and heat maps."""
