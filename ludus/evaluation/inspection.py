"""The contents of a checkpoint, and its evaluation of a position."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ludus.agents import trained
from ludus.agents.table import Table
from ludus.bridges import AnyPool, open_pool
from ludus.dsl import PLAYING
from ludus.evaluation import footprint
from ludus.types import Array, Continuous, JsonObject, LudusError, PyTree, Step

SHOWN_ACTIONS, BAR = 20, 30
"""maximum number of actions shown as text, and width of the longest bar in characters"""
EIGHTHS = " ▏▎▍▌▋▊▉"


def inspect(path: Path, moves: tuple[str, ...] = (), seed: int = 0, speed: bool = False) -> JsonObject:
    """Facts about a checkpoint, and its evaluation of the position after these moves.

    With `speed`, also how fast a network decides, for which it is compiled three times.
    """
    agent = trained.load(path)
    manifest, by_table = agent.manifest, isinstance(agent.params, Table)
    pool = open_pool(manifest.game, 1, [seed] if ":" not in manifest.game else seed, threads=1)
    try:
        steps = [pool.step, *(_play(pool, move) for move in moves)]
        position = {"text": pool.describe(), "seat": int(pool.step.seat[0]), "over": bool(pool.status[0] != PLAYING)}
        position |= _by_table(agent, pool) if by_table else _by_network(agent, pool, steps)
        needs = {} if by_table or not speed else {"footprint": footprint.footprint(agent, agent.params, pool.step)}
    finally:
        pool.close()
    facts = {"checkpoint": str(agent.path), "game": manifest.game, "algorithm": manifest.algorithm["kind"]}
    facts |= {"steps": manifest.steps, "score": manifest.score, "created": manifest.created, "ludus": manifest.ludus}
    facts |= _table_facts(agent.params) if by_table else {"agent": manifest.agent, "parameters": sizes(agent.params)}
    return facts | needs | {"settings": manifest.algorithm, "position": position}


def _table_facts(table: Table) -> JsonObject:
    visits = table.rows["visits"][table.places]
    size = {"positions": len(table), "rows": len(table.rows), "bytes": table.rows.nbytes}
    return size | {"visits": float(visits.sum() - len(table))}


def _by_table(agent: trained.Trained, pool: AnyPool) -> JsonObject:
    """The values of the legal actions by name, and whether the table contains the position."""
    values = agent.agent.values(agent.params, pool.step)[0]
    known = bool(agent.agent.places(agent.params, pool.step)[0] >= 0)
    return {"known": known, "values": {name: float(values[action]) for name, action in _legal(pool).items()}}


def _by_network(agent: trained.Trained, pool: AnyPool, steps: Sequence[Step]) -> JsonObject:
    """The value of the last step for each seat and its policy, with the memory of all steps before."""
    import jax

    from ludus.agents.neural.agent import DeepAgent

    network = agent.agent
    if not isinstance(network, DeepAgent):  # a world model plays without telling what it thinks of the alternatives
        return {"action": _decided(agent, steps)}
    memory, rows = network.memory(len(steps[0].seat)), jax.tree.map(lambda *parts: np.stack(parts), *steps)
    judged = jax.jit(network.evaluate)(agent.params, memory, network.packed(rows))
    value = np.asarray(judged.value[-1, 0], np.float64).tolist()
    found: JsonObject = {"value_by_seat": value[: pool.spec.seats]}
    if network.curious:
        found["novelty"] = value[-1]
    if isinstance(pool.spec.actions, Continuous):
        mean, log_std = (np.asarray(part[-1, 0], np.float64) for part in (judged.policy.mean, judged.policy.log_std))
        return found | {"actions": squashed(mean, np.exp(log_std), pool.spec.actions)}
    chances = np.exp(np.asarray(judged.policy[-1, 0], np.float64))
    return found | {"probabilities": {name: float(chances[action]) for name, action in _legal(pool).items()}}


def _decided(agent: trained.Trained, steps: Sequence[Step]) -> list[float]:
    """The action after the last step, with the memory of all steps before."""
    memory = agent.memory(len(steps[0].seat))
    for step in steps:
        decision, memory = agent.act(agent.params, memory, step, 0)
    return [float(number) for number in np.atleast_1d(decision.action[0])]


def squashed(mean: Array, deviation: Array, actions: Continuous) -> list[dict[str, float]]:
    """For each component of an action: the greedy value, and mean and standard deviation of the distribution.

    The two are those of a = low + ½ (high - low) (1 + tanh u) with u ~ N(mean, deviation²), by Gauss-Hermite nodes.
    """
    from ludus.agents.neural.distributions import NODE_WEIGHTS, NODES

    low, high = (np.array(ends)[:, None] for ends in actions)
    drawn = low + (high - low) * (1 + np.tanh(mean[:, None] + deviation[:, None] * NODES)) / 2
    middle = drawn @ NODE_WEIGHTS
    spread = np.sqrt((drawn - middle[:, None]) ** 2 @ NODE_WEIGHTS)
    greedy = low[:, 0] + (high - low)[:, 0] * (1 + np.tanh(mean)) / 2
    columns = {"greedy": greedy, "mean": middle, "deviation": spread, "low": low[:, 0], "high": high[:, 0]}
    return [{name: float(column[place]) for name, column in columns.items()} for place in range(len(mean))]


def sizes(variables: PyTree) -> JsonObject:
    """Number of parameters and megabytes of a network, in total and by module."""
    if "ema" in variables:  # a world model plays with these parameters
        variables = {"params": variables["ema"]}
    learned = {name: _size(part) for name, part in variables["params"].items()}
    others = {name: _size(part) for name, part in variables.items() if name != "params"}
    parts = learned | {f"{name} (not learned)": size for name, size in others.items()}
    count = sum(part["count"] for part in learned.values())
    return {"count": count, "megabytes": sum(part["megabytes"] for part in parts.values()), "parts": parts}


def _size(tree: PyTree) -> JsonObject:
    import jax

    leaves = jax.tree.leaves(tree)
    return {"count": sum(leaf.size for leaf in leaves), "megabytes": sum(leaf.nbytes for leaf in leaves) / 1e6}


def as_text(facts: JsonObject) -> str:
    """The facts as text, then the position and its actions from the best to the worst."""
    position = facts["position"]
    lines = [f"{name:<11} {facts[name]}" for name in ("checkpoint", "game", "algorithm", "steps", "score", "created")]
    lines += _network_lines(facts) if "parameters" in facts else _table_lines(facts)
    lines += ["", position["text"], ""]
    if position["over"]:
        return "\n".join([*lines, "the game is over in this position"])
    if "action" in position:
        return "\n".join([*lines, f"it plays {', '.join(f'{number:+.4f}' for number in position['action'])}"])
    if "values" in position:
        return "\n".join(lines + _value_lines(position))
    return "\n".join(lines + _worth_lines(position) + _policy_lines(position))


def _table_lines(facts: JsonObject) -> list[str]:
    size = f"{facts['bytes'] / 2**20:.1f} MiB, {facts['visits']:,.0f} visits"
    return [f"{'positions':<11} {facts['positions']:,} of {facts['rows']:,} rows, {size}"]


def _network_lines(facts: JsonObject) -> list[str]:
    agent, size = facts["agent"], facts["parameters"]
    chosen = ", ".join(f"{name} {value}" for name, value in agent.get("args", {}).items())
    lines = [f"{'network':<11} {agent['kind']}: {chosen}", f"{'parameters':<11} {_amount(size)}"]
    lines += [f"  {name:<20} {_amount(part)}" for name, part in size["parts"].items()]
    return lines + (footprint.lines(facts["footprint"]) if "footprint" in facts else [])


def _amount(size: JsonObject) -> str:
    return f"{size['count']:>12,} {size['megabytes']:>9.3f} MB"


def _value_lines(position: JsonObject) -> list[str]:
    lines = [] if position["known"] else ["this position is not in the table; the agent would play any legal move"]
    return lines + [f"  {name:<10} {value:+.4f}" for name, value in _ranked(position["values"])]


def _worth_lines(position: JsonObject) -> list[str]:
    worth = ", ".join(f"seat {seat} {value:+.4f}" for seat, value in enumerate(position["value_by_seat"]))
    novelty = f", intrinsic {position['novelty']:+.4f}" if "novelty" in position else ""
    return [f"seat {position['seat']} is to move; value: {worth}{novelty}"]


def _policy_lines(position: JsonObject) -> list[str]:
    if "actions" in position:
        return [f"  component {place}: greedy {one['greedy']:+.4f}; mean {one['mean']:+.4f}, deviation "
                f"{one['deviation']:.4f}, from {one['low']:g} to {one['high']:g}"
                for place, one in enumerate(position["actions"])]  # fmt: skip
    return [f"  {name:<10} {100 * chance:6.2f} % {bar(chance)}" for name, chance in _ranked(position["probabilities"])]


def bar(share: float, width: int = BAR) -> str:
    """A fraction from 0 to 1 as a bar of block characters, with a resolution of one eighth of a character."""
    eighths = round(8 * width * share)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _ranked(named: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(named.items(), key=lambda item: -item[1])[:SHOWN_ACTIONS]


def _legal(pool: AnyPool) -> dict[str, int]:
    """The legal actions by name; empty if the game is over."""
    if pool.status[0] != PLAYING:
        return {}
    return {pool.action_name(int(action)): int(action) for action in np.flatnonzero(pool.step.mask[0])}


def _play(pool: AnyPool, move: str) -> Step:
    if pool.status[0] != PLAYING:
        raise LudusError(f'the game is over before "{move}"; give fewer moves')
    if pool.spec.views > 1:
        raise LudusError(f"all seats of {pool.name} act at once; only its opening can be inspected")
    if isinstance(pool.spec.actions, Continuous):
        return pool.advance(np.array([_numbers(move, len(pool.spec.actions.low))]))
    legal = _legal(pool)
    if move not in legal:
        raise LudusError(f'"{move}" is not a legal move here; legal moves are {", ".join(list(legal)[:20])}')
    return pool.advance(np.array([legal[move]]))


def _numbers(move: str, count: int) -> list[float]:
    """Parse a move of several numbers: 0.5,-1."""
    try:
        numbers = [float(word) for word in move.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise LudusError(f'"{move}" is not a legal move; a move is {count} numbers, like {",".join(["0.5"] * count)}')
    return numbers
