"""Planning: the best play where the dynamics are known, computed without playing a single game."""

from ludus.algorithms.planning.dynamics import Dynamics, dynamics_of
from ludus.algorithms.planning.policy_iteration import policy_iteration
from ludus.algorithms.planning.value_iteration import Plan, Sweep, value_iteration, value_sweeps

__all__ = ["Dynamics", "Plan", "Sweep", "dynamics_of", "policy_iteration", "value_iteration", "value_sweeps"]
