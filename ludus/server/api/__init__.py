"""The routes of the server: models, sessions, games and operations."""
