"""Evaluation of agents and games: scores, matches, battles, replays, conformance checks."""
