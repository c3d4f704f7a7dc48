"""The loop that draws tokens. `swarm` gives every game its own copy of this module with `rules` already bound."""

# ruff: noqa: F821  (`rules` is put into the module's namespace before it runs)
# mypy: ignore-errors
from ludus.words import kernel

token = rules.token


@kernel
def draw_tokens(states, colors, canvas):
    """What moves in each of the games, one after the other."""
    canvas[0].count = 0
    canvas[0].dropped = 0
    for i in range(len(states)):
        token(states[i], canvas[0], colors[i])
