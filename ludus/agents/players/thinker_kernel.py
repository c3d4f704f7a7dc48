"""The loop of a thinker. `thinker.bound` gives every player its own copy of this module with `player` bound."""

# ruff: noqa: F821  (`player` is put into the module's namespace before it runs)
from ludus.dsl import PLAYING, kernel

choose = player.choose


@kernel
def decide(states, work, out, low, high):
    """An action for each of the games low .. high-1."""
    for i in range(low, high):
        out[i] = choose(states[i], work[i]) if states[i].status == PLAYING else 0
