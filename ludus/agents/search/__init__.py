"""Agents that look ahead: they play the game on, in copies that know neither its dice nor its hidden cards."""
