"""A network for tic-tac-toe: an MLP whose towers have names of their own."""

from ludus.agents.neural.networks.mlp import MLPAgent


class TicTacToeNet(MLPAgent):
    """Observation to policy and value."""

    def _tower(self, x, name):
        return super()._tower(x, f"own_{name}")


NETWORK = TicTacToeNet
