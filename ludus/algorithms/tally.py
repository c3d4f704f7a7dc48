"""Tallies of play, which can be added: [games ended, their steps, decisions, and the returns of each seat in them]."""

from __future__ import annotations

from ludus.types import Array


def means(tally: Array) -> dict[str, float]:
    """The metrics of a tally: means over the games that ended, if any has."""
    episodes, lengths, decisions, *returns = tally.tolist()
    metrics = {"decisions": decisions, "episodes": episodes}
    if episodes:
        seats = {f"episode_return/seat{seat}": total / episodes for seat, total in enumerate(returns)}
        metrics |= {
            "episode_length": lengths / episodes,
            **(seats if len(returns) > 1 else {"episode_return": returns[0] / episodes}),
        }
    return metrics
