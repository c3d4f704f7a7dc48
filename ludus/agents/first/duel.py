"""The duel, by always taking option 0: the opponent that others have measured their players against."""

from ludus.agents.first import FirstAgent

AGENT = FirstAgent()
