"""The loop that draws tokens. Every game gets its own copy of this module, with `rules` bound before it runs."""

# ruff: noqa: F821  (`rules` is put into the module's namespace before it runs)
# mypy: ignore-errors
from ludus.dsl import kernel

token = rules.token


@kernel
def draw_tokens(states, colors, canvas):
    """Draw the token of every state, one after the other."""
    canvas[0].count = 0
    canvas[0].dropped = 0
    for i in range(len(states)):
        token(states[i], canvas[0], colors[i])
