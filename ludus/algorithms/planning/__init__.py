"""Planning: optimal play computed from the known dynamics of a game, without playing it."""

from ludus.algorithms.planning.algorithm import Planning
from ludus.algorithms.planning.dynamics import Dynamics, dynamics_of
from ludus.algorithms.planning.methods.policy_iteration import policy_iteration
from ludus.algorithms.planning.methods.value_iteration import Plan, Sweep, value_iteration, value_sweeps

ALGORITHM = Planning
__all__ = [
    "ALGORITHM", "Dynamics", "Plan", "Planning", "Sweep", "dynamics_of", "policy_iteration", "value_iteration",
    "value_sweeps",
]  # fmt: skip
