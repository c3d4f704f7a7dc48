"""A page for each game, from its module, the agents that come with it, and the measured results."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import numpy as np
from tables import table

from ludus import agents, games
from ludus.dsl import bounds
from ludus.games import Game
from ludus.types import Discrete

ROOT = pathlib.Path(__file__).parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results"
NAMES = sorted(path.stem for path in (ROOT / "ludus" / "games").iterdir() if not path.name.startswith("_"))
SUITES = ("train", "train_balatro")
SHOWN = 12
"""actions that a page names"""


def paths() -> list[str]:
    return ["games/index.md", *(f"games/{name}.md" for name in NAMES)]


def pages() -> dict[str, str | bytes]:
    """The pages of games without a page in docs/games, and the list of all games."""
    loaded = [games.load(name) for name in NAMES]
    rows = [(f"[![{game.name}](../pictures/{game.name}.gif){{ width=160 }}]({game.name}.md)",
             f"[{game.title}]({game.name}.md)", game.summary) for game in loaded]  # fmt: skip
    made: dict[str, str | bytes] = {"games/index.md": "# Games\n\n" + table(("", "game", "what it is"), rows)}
    written = {path.stem for path in (ROOT / "docs" / "games").glob("*.md")}
    return made | {f"games/{game.name}.md": _rules(game) for game in loaded if game.name not in written}


def _rules(game: Game) -> str:
    return f"# {game.title}\n\n{_capital(game.summary)}\n\n" + (game.rules.__doc__ or "").strip().partition("\n")[2]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def appendix(path: str) -> str:
    """The generated end of the page of a game; empty for other pages."""
    name = pathlib.PurePath(path).stem
    if path != f"games/{name}.md" or name not in NAMES:
        return ""
    game = games.load(name)
    parts = (_picture(game), _facts(game), _parameters(game), _observation(game), _actions(game), _agents(game))
    return "\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def _picture(game: Game) -> str:
    return f"## In motion\n\n![{game.title}](../pictures/{game.name}.gif)"


def _facts(game: Game) -> str:
    spec = game.spec
    kind = f"{spec.actions.n} numbered" if isinstance(spec.actions, Discrete) else f"{len(spec.actions.low)} floats"
    rows = [
        ("seats", spec.seats), ("turns", spec.turns), ("actions", kind), ("zero-sum", "yes" if spec.zero_sum else "no"),
        ("longest game", f"{spec.horizon:,} steps" if spec.horizon else "no limit"),
        ("size of a state", f"{game.rules.STATE.itemsize:,} bytes"),
    ]  # fmt: skip
    return "## At a glance\n\n" + table(("", ""), rows) + f"\n    ludus play {game.name}\n    ludus train {game.name}"


def _parameters(game: Game) -> str:
    found = games.parameters_of(game.rules)
    rows = [(f"`{name}`", f"`{one.default}`", one.meaning) for name, one in found.items()]
    intro = f"## Parameters\n\nThey are given in the name: `{game.name}({next(iter(found), '')}=…)`.\n\n"
    return intro + table(("parameter", "default", "meaning"), rows) if rows else ""


def _observation(game: Game) -> str:
    record = game.rules.OBSERVATION
    rows = [_field(record, name) for name in record.names]
    return "## Observation\n\n" + table(("field", "shape", "type", "range"), rows)


def _field(record: np.dtype, name: str) -> tuple[str, ...]:
    kind = record.fields[name][0]
    low, high = bounds(record, name)
    scale = f"{np.min(low):g} to {np.max(high):g}"
    return f"`{name}`", str(list(kind.shape)) if kind.shape else "one number", f"`{kind.base}`", scale


def _actions(game: Game) -> str:
    actions = game.spec.actions
    if not isinstance(actions, Discrete):
        names = [control.name for control in getattr(game.rules, "CONTROLS", ())]
        names = names if len(names) == len(actions.low) else [f"float {place}" for place in range(len(actions.low))]
        rows = list(zip(names, actions.low, actions.high, strict=True))
        return "## Actions\n\n" + table(("float", "lowest", "highest"), rows)
    rows = [(action, game.rules.action_name(action)) for action in range(min(actions.n, SHOWN))]
    rest = f"\nand {actions.n - SHOWN:,} more.\n" if actions.n > SHOWN else ""
    return "## Actions\n\n" + table(("number", "name"), rows) + rest


def _agents(game: Game) -> str:
    names = [*agents.shipped_kinds(game.name), *agents.kinds_for(game.name)]
    listed = ", ".join(f"`{name}`" for name in names)
    rows = [*_shipped_scores(game.name), *_measured(game.name)]
    intro = (
        f"## Agents and scores\n\nAgents that come with the game: {listed}; search (`mcts(400)`) works in games with "
    )
    return intro + "numbered actions.\n\n" + (table(("agent or measurement", "result", "source"), rows) if rows else "")


def _shipped_scores(game: str) -> Iterator[tuple[str, str, str]]:
    for kind in agents.shipped_kinds(game):
        folder = agents.shipped(game, kind)
        assert folder is not None
        manifest = json.loads((folder / "manifest.json").read_text())
        score, metrics = manifest["score"], manifest["metrics"]
        interval = (
            f" ({metrics['score_low']:.4g} to {metrics['score_high']:.4g}, 95 %)" if "score_low" in metrics else ""
        )
        opponent = manifest["algorithm"].get("eval_opponent")
        against = f" against {opponent}" if opponent else ""
        if score is not None:
            steps = f"{manifest['steps']:,} steps of {manifest['algorithm']['kind']}"
            yield f"`{kind}`, {steps}", f"score {score:.4g}{interval}{against}", "evaluation during its training"


def _measured(game: str) -> Iterator[tuple[str, str, str]]:
    for suite in SUITES:
        for row in json.loads((RESULTS / f"{suite}.json").read_text())["results"]:
            if row["name"].startswith(f"train/{game}/"):
                value = f"{row['value']:.6g} {row['unit']}"
                yield row["name"], value, f"[{suite}.json](../benchmarks/results/{suite}.json)"
    for path in sorted(RESULTS.glob(f"{game}_*.json")):
        document = json.loads(path.read_text())
        for row in document if isinstance(document, list) else [document]:
            if "agent" in row:
                yield _match(row), _score(row), f"[{path.name}](../benchmarks/results/{path.name})"


def _match(row: dict) -> str:
    return (
        f"`{row['agent']}`" + (f" against `{row['against']}`" if "against" in row else "") + f", {row['games']} games"
    )


def _score(row: dict) -> str:
    won = f"{row['wins']} won, {row['draws']} drawn, {row['losses']} lost; " if "wins" in row else ""
    return won + "score {estimate:.3f} ({low:.3f} to {high:.3f}, 95 %)".format(**row["score"])
