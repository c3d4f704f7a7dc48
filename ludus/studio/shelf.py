"""What the studio has to offer: games, agents by name, runs, checkpoints.

Names come from strangers. Each is taken apart by a strict pattern and looked up in a list of what is there; none is
ever joined to a path unseen, and a link that leads out of the folder is not in the list.
"""

from __future__ import annotations

import functools
import io
import re
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

from ludus import agents, algorithms, checkpoint, games
from ludus.agents.search import lookahead
from ludus.agents.table import positions_of
from ludus.runs.folder import CHECKPOINTS, SETTINGS
from ludus.studio.refusal import Refusal, unknown
from ludus.types import Continuous, LudusError

RUN = re.compile(r"run:([A-Za-z0-9._-]{1,100})(?:@(best|\d{6,19}))?", re.ASCII)
SEARCH = re.compile(r"mcts\((\d{1,5})\)", re.ASCII)
SIMULATIONS = (50, 400, 2000)
PERSON = "person"
KEPT_AGENTS = 8
LARGEST_POSITION = 256
"""bytes of an observation that is seen more than once"""
LABELS = {
    "perfect": ("Perfect", "never errs", 5),
    "expert": ("Expert", "thinks ahead by hand-made rules", 4),
    "lookahead": ("Lookahead", "tries every move out, and judges by what Trained has learned", 4),
    "trained": ("Trained", "learned by itself; comes with Ludus", 4),
    "dreamer": ("Dreamer", "learned a world model; shows what it imagines", 3),
    "greedy": ("Greedy", "takes the best of the next move", 2),
    "scripted": ("Scripted", "follows a few fixed rules", 3),
    "first": ("First", "always the first move of the list", 1),
    "random": ("Random", "any legal move", 0),
}  # fmt: skip
"""of each kind of agent: what it is called, what it does, and how strong it is, 0 to 5"""


class Offer(NamedTuple):
    """An agent that can be chosen."""

    name: str
    label: str
    note: str
    strength: int


class Shelf:
    """The games and agents that there are, with the runs of one folder among them."""

    def __init__(self, out: Path) -> None:
        self.out, self.lock = out, threading.Lock()
        self.loaded: OrderedDict[tuple[str, str], tuple[Any, Any]] = OrderedDict()

    def runs(self) -> dict[str, Path]:
        """Every run by its name."""
        if not self.out.is_dir():
            return {}
        inside = [path for path in self.out.iterdir() if not path.name.startswith(".") and not path.is_symlink()]
        return {path.name: path for path in sorted(inside) if (path / SETTINGS).is_file()}

    def run(self, name: str) -> Path:
        """The folder of a run."""
        found = self.runs().get(name)
        if found is None:
            raise unknown("run", name, "; the list of runs has those that there are")
        return found

    def checkpoint(self, name: str, which: str | None = None) -> Path:
        """The folder of a checkpoint of a run: its newest, its `best` or the one with this number."""
        place = self.run(name) / CHECKPOINTS
        found = {path.name: path for path in checkpoint.list_checkpoints(place) if not path.is_symlink()}
        if not found or place.is_symlink():
            raise Refusal(f'"{name}" has no checkpoint yet; let it train a little longer', 409)
        if which in (None, "newest"):
            return list(found.values())[-1]
        if which == "best":
            return checkpoint.best(place) or list(found.values())[-1]
        if which not in found:
            raise unknown(f'checkpoint of "{name}"', str(which), f"; it has {', '.join(found)}")
        return found[which]

    def kind(self, name: str, game: str) -> str:
        """The agent of this name as `agents.load` knows it; a sentence for one that is not on the shelf."""
        if match := RUN.fullmatch(name):
            return str(self.checkpoint(match[1], match[2]).absolute())
        if match := SEARCH.fullmatch(name):
            if int(match[1]) < 1:
                raise Refusal("a search has one simulation or more")
            return name
        if name not in LABELS:
            raise unknown("agent", name, f"; there are {', '.join(offer.name for offer in self.agents(game)[:12])}")
        return name

    def agent(self, name: str, game: str) -> tuple[Any, Any]:
        """The agent of this name for a game, and its parameters; what was loaded lately is at hand."""
        key = (self.kind(name, game), game)
        with self.lock:
            found = self.loaded.get(key)
        found = found or load(*key)  # not under the lock: somebody else may want another that is at hand
        with self.lock:
            self.loaded[key] = found
            self.loaded.move_to_end(key)
            while len(self.loaded) > KEPT_AGENTS:
                self.loaded.popitem(last=False)
        return found

    def newer(self, name: str) -> str | None:
        """The checkpoint that the name of a run's agent means at this moment; None for any other agent."""
        match = RUN.fullmatch(name)
        return self.checkpoint(match[1], match[2]).name if match else None

    def label(self, name: str) -> str:
        """What an agent is called on the page."""
        if match := RUN.fullmatch(name):
            return match[1] if match[2] is None else f"{match[1]} ({match[2]})"
        if match := SEARCH.fullmatch(name):
            return f"Search, {int(match[1]):,} games a move"
        return "You" if name == PERSON else LABELS[name][0] if name in LABELS else name

    def agents(self, game: str) -> list[Offer]:
        """Who can play a game, the strongest of those that need no training first, then the runs of it."""
        found = load_game(game)
        kinds = [*agents.shipped_kinds(found.name), *agents.kinds_for(found.name)]
        kinds += ["lookahead"] * lookahead.fits(found.name)
        offers = [Offer(kind, *LABELS[kind]) for kind in kinds]
        if not isinstance(found.spec.actions, Continuous):
            offers += [_search(place, count) for place, count in enumerate(SIMULATIONS)]
        return sorted(offers, key=lambda offer: -offer.strength) + self._runs_of(found)

    def _runs_of(self, game: games.Game) -> list[Offer]:
        """The runs whose newest checkpoint is of this very game."""
        offers = []
        for name, folder in self.runs().items():
            newest = checkpoint.newest(folder / CHECKPOINTS)
            if newest is None or not (manifest := _of_game(newest, game)):
                continue
            note = f"{manifest.steps:,} steps" + ("" if manifest.score is None else f", score {manifest.score:.3g}")
            offers += [Offer(f"run:{name}", name, f"newest: {note}", 3)]
            if (best := checkpoint.best(folder / CHECKPOINTS)) not in (None, newest):
                offers.append(Offer(f"run:{name}@best", f"{name} (best)", f"checkpoint {best.name if best else ''}", 3))
        return offers

    def games(self) -> list[dict[str, Any]]:
        """Every game with what the gallery shows of it."""
        return [dict(facts) for facts in _games(tuple(games.names()))]

    def picture(self, game: str) -> bytes:
        """A small picture of a game in the middle of play, as WebP."""
        if game not in games.names():
            raise unknown("game", game)
        return _picture(game)

    def forget(self, name: str) -> None:
        """Let go of the agents of a run, which is gone."""
        home = str((self.out / name).absolute())
        with self.lock:
            for key in [key for key in self.loaded if key[0].startswith(f"{home}/")]:
                del self.loaded[key]


def load(kind: str, game: str) -> tuple[Any, Any]:
    """An agent and its parameters; a damaged checkpoint is a sentence."""
    agent = agents.load(kind, game)
    return agent, agent.init(load_game(game).spec, 0)


def load_game(name: str) -> games.Game:
    """A game that the studio has: ours, found by its name; foreign ones could have any module imported."""
    if ":" in name:
        raise Refusal(f'"{name[:60]}" is a foreign game; the studio has those that ludus games lists', 404, "game")
    try:
        return games.load(name)
    except LudusError as error:
        raise Refusal(str(error), 404 if str(error).startswith("unknown game") else 422, "game") from None


def algorithms_for(game: games.Game) -> list[str]:
    """The methods that a game can be learned by, its usual one first."""
    fitting = [name for name in algorithms.names() if _fits(name, game)]
    usual = _usual(game.name)
    return sorted(fitting, key=lambda name: (name != usual, not algorithms.settings_kind(name).DEEP, name))


def _fits(algorithm: str, game: games.Game) -> bool:
    """Networks read everything; tables need positions that repeat, and planning all of them numbered."""
    spec = game.spec
    if algorithms.settings_kind(algorithm).DEEP:
        return algorithm != "world_model" or (spec.seats == 1 and isinstance(spec.actions, Continuous))
    if isinstance(spec.actions, Continuous) or game.rules.OBSERVATION.itemsize > LARGEST_POSITION:
        return False
    try:
        positions = positions_of(game.name, game.rules.OBSERVATION)
    except LudusError:
        return False
    if algorithm not in algorithms.PLANNING:
        return True
    fair = spec.seats == 1 or (spec.zero_sum and spec.turns == "alternating")
    return positions.count > 0 and fair and not hasattr(game.rules, "redeal")


def _usual(game: str) -> str:
    from ludus import config

    return config.resolve(game).algorithm


def _search(place: int, count: int) -> Offer:
    note = f"plays {count:,} games in thought before each move"
    return Offer(f"mcts({count})", f"Search ({count:,})", note, 2 + place)


def _of_game(path: Path, game: games.Game) -> checkpoint.Manifest | None:
    """What a checkpoint says of itself, if it can be read and is of this game as it is now."""
    try:
        manifest = checkpoint.read_manifest(path)
    except LudusError:
        return None
    same = manifest.game.partition("(")[0] == game.name and manifest.fingerprint == game.fingerprint
    return manifest if same else None


@functools.lru_cache(4)
def _games(names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [_game_facts(games.load(name)) for name in names]


def _game_facts(game: games.Game) -> dict[str, Any]:
    spec, continuous = game.spec, isinstance(game.spec.actions, Continuous)
    parameters = {
        key: {"default": parameter.default, "meaning": parameter.meaning}
        for key, parameter in games.parameters_of(game.rules).items()
    }
    facts = {"name": game.name, "title": game.title, "summary": game.summary, "seats": spec.seats, "turns": spec.turns}
    facts |= {"continuous": continuous, "parameters": parameters, "picture": f"/static/pictures/{game.name}.webp"}
    steered = isinstance(spec.actions, Continuous) and len(spec.actions.low) <= 2
    playable = hasattr(game.rules, "scene") and (steered or not continuous)
    trained = bool(agents.shipped_kinds(game.name))
    return facts | {"algorithms": algorithms_for(game), "playable": playable, "trained": trained}


@functools.lru_cache(64)
def _picture(game: str) -> bytes:
    from ludus import show

    played = show.play(game, seed=7, steps=60 if load_game(game).spec.seats == 1 else 5, every=1)
    if not played.frames:
        raise Refusal(f"{game} draws no picture", 404)
    return webp(played.frames[-1], played.frame)


def webp(shapes: Any, frame: tuple[int, int], width: int = 480) -> bytes:
    """A picture as few bytes."""
    from ludus import pictures

    buffer = io.BytesIO()
    pictures.image(shapes, frame, scale=min(width / frame[0], 2.0)).save(buffer, "WEBP", quality=80, method=4)
    return buffer.getvalue()
