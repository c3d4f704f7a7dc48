"""The duel, always taking option 0: a baseline opponent that published results use."""

from ludus.agents.players.first import FirstAgent

AGENT = FirstAgent()
