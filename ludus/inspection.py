"""What a checkpoint holds, and what a table thinks of a position."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ludus.agents import trained
from ludus.bridges import AnyPool, open_pool
from ludus.types import LudusError
from ludus.words import PLAYING


def inspect(path: Path, moves: tuple[str, ...] = (), seed: int = 0) -> dict[str, Any]:
    """Facts about a checkpoint, and the values of the position that the moves lead to."""
    agent = trained.load(path)
    manifest, table = agent.manifest, agent.params
    pool = open_pool(manifest.game, 1, [seed] if ":" not in manifest.game else seed, threads=1)
    try:
        for move in moves:
            _play(pool, move)
        values = agent.agent.values(table, pool.step)[0]
        known = bool(agent.agent.places(table, pool.step)[0] >= 0)
        legal = np.flatnonzero(pool.step.mask[0])
        names = {pool.action_name(int(action)): float(values[action]) for action in legal}
        position = {"text": pool.describe(), "seat": int(pool.step.seat[0]), "known": known, "values": names}
    finally:
        pool.close()
    visits = table.rows["visits"][table.places]
    facts = {"checkpoint": str(agent.path), "game": manifest.game, "algorithm": manifest.algorithm["kind"]}
    facts |= {"steps": manifest.steps, "score": manifest.score, "created": manifest.created, "ludus": manifest.ludus}
    return facts | {
        "positions": len(table), "rows": len(table.rows), "bytes": table.rows.nbytes,
        "visits": float(visits.sum() - len(table)), "settings": manifest.algorithm, "position": position,
    }  # fmt: skip


def as_text(facts: dict[str, Any]) -> str:
    """The same for people: facts, the position, and its actions from the best to the worst."""
    position = facts["position"]
    lines = [f"{name:<11} {facts[name]}" for name in ("checkpoint", "game", "algorithm", "steps", "score", "created")]
    size = f"{facts['bytes'] / 2**20:.1f} MiB, {facts['visits']:,.0f} visits"
    share = f"{facts['positions']:,} of {facts['rows']:,} rows, {size}"
    lines += [f"{'positions':<11} {share}", "", position["text"], ""]
    if not position["known"]:
        lines.append("this position was never seen; any legal move would be played")
    ranked = sorted(position["values"].items(), key=lambda item: -item[1])
    return "\n".join(lines + [f"  {name:<10} {value:+.4f}" for name, value in ranked[:20]])


def _play(pool: AnyPool, move: str) -> None:
    if pool.status[0] != PLAYING:
        raise LudusError(f'the game is over before "{move}"; give fewer moves')
    legal = {pool.action_name(int(action)): int(action) for action in np.flatnonzero(pool.step.mask[0])}
    if move not in legal:
        raise LudusError(f'"{move}" is no move here; legal are {", ".join(list(legal)[:20])}')
    if pool.spec.views > 1:
        raise LudusError(f"{pool.name} is played by all at once; only its opening can be inspected")
    pool.advance(np.array([legal[move]]))
