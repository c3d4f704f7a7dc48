"""What was played, as numbers that add up: [games ended, their steps, decisions, and what each seat got in them]."""

from __future__ import annotations

from ludus.types import Array


def means(tally: Array) -> dict[str, float]:
    """The metrics of a tally: means over the games that ended; none where none has."""
    episodes, lengths, updates, *returns = tally.tolist()
    metrics = {"updates": updates, "episodes": episodes}
    if episodes:
        seats = {f"return/seat{seat}": total / episodes for seat, total in enumerate(returns)}
        metrics |= {"length": lengths / episodes, **(seats if len(returns) > 1 else {"return": returns[0] / episodes})}
    return metrics
