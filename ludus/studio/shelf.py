"""The games, agents, runs and checkpoints that the studio offers, by name.

Names in requests are not trusted. Each is parsed by a strict pattern and looked up in a list of existing items; a name
is never joined to a path directly, and symbolic links are not listed.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from ludus import agents, algorithms, games
from ludus.agents import checkpoint, remote
from ludus.agents.player import Contestant
from ludus.agents.search import lookahead
from ludus.dsl import Parameter
from ludus.studio import foreign
from ludus.studio.refusal import Refusal, unknown
from ludus.training.folder import CHECKPOINTS, SETTINGS
from ludus.types import Array, Continuous, JsonObject, LudusError

RUN = re.compile(r"run:([A-Za-z0-9._-]{1,100})(?:@(best|\d{6,19}))?", re.ASCII)
SEARCH = re.compile(r"mcts\((\d{1,5})\)", re.ASCII)
SIMULATIONS = (50, 400, 2000)
PERSON = "person"
KEPT_AGENTS = 8
LABELS = {
    "perfect": ("Perfect", "never makes a mistake", 5),
    "expert": ("Expert", "looks ahead with hand-written rules", 4),
    "lookahead": ("Lookahead", "tries every move and evaluates the result with the trained network", 4),
    "trained": ("Trained", "trained network that comes with Ludus", 4),
    "dreamer": ("Dreamer", "learned a world model; shows what it imagines", 3),
    "greedy": ("Greedy", "takes the best next move by simple rules", 2),
    "scripted": ("Scripted", "follows a few fixed rules", 3),
    "first": ("First", "always plays the first legal move", 1),
    "random": ("Random", "plays a random legal move", 0),
}  # fmt: skip
"""for each kind of agent: label, description, and strength from 0 to 5"""


class Offer(NamedTuple):
    """An agent that can be chosen."""

    name: str
    label: str
    note: str
    strength: int


class Shelf:
    """All games and agents, including the agents of the runs in one folder."""

    def __init__(self, out: Path) -> None:
        self.out, self.lock = out, threading.Lock()
        self.loaded: OrderedDict[tuple[str, str], Contestant] = OrderedDict()

    def runs(self) -> dict[str, Path]:
        """All runs by name."""
        if not self.out.is_dir():
            return {}
        inside = [path for path in self.out.iterdir() if not path.name.startswith(".") and not path.is_symlink()]
        return {path.name: path for path in sorted(inside) if (path / SETTINGS).is_file()}

    def run(self, name: str) -> Path:
        """The folder of a run."""
        found = self.runs().get(name)
        if found is None:
            raise unknown("run", name, "; it may have been deleted")
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
        """The name as `agents.load` expects it; raises Refusal for an unknown agent."""
        if match := RUN.fullmatch(name):
            return str(self.checkpoint(match[1], match[2]).absolute())
        if match := SEARCH.fullmatch(name):
            if int(match[1]) < 1:
                raise Refusal("a search needs at least one simulation; write for example mcts(200)")
            return name
        if remote.is_url(name):
            return name
        if name not in LABELS:
            raise unknown("agent", name, f"; there are {', '.join(offer.name for offer in self.agents(game)[:12])}")
        return name

    def agent(self, name: str, game: str) -> Contestant:
        """The agent of this name for a game, and its parameters; recently loaded agents are cached."""
        key = (self.kind(name, game), game)
        with self.lock:
            found = self.loaded.get(key)
        found = found or load(*key)  # without the lock, because loading may take seconds
        with self.lock:
            self.loaded[key] = found
            self.loaded.move_to_end(key)
            while len(self.loaded) > KEPT_AGENTS:
                self.loaded.popitem(last=False)
        return found

    def newer(self, name: str) -> str | None:
        """The name of the checkpoint that the agent of a run uses now; None for other agents."""
        match = RUN.fullmatch(name)
        return self.checkpoint(match[1], match[2]).name if match else None

    def label(self, name: str) -> str:
        """The label of an agent on the page."""
        if match := RUN.fullmatch(name):
            return match[1] if match[2] is None else f"{match[1]} ({match[2]})"
        if match := SEARCH.fullmatch(name):
            return f"Search, {int(match[1]):,} simulations per move"
        if remote.is_url(name):
            return label_of(name)
        return "You" if name == PERSON else LABELS[name][0] if name in LABELS else name

    def agents(self, game: str) -> list[Offer]:
        """The agents of a game: built-in ones, strongest first, then its runs."""
        found = described(game)
        kinds = ["random"] if isinstance(found, foreign.ForeignGame) else _kinds(found.name)
        offers = [Offer(kind, *LABELS[kind]) for kind in kinds]
        if isinstance(found, games.Game) and not isinstance(found.spec.actions, Continuous):
            offers += [_search(place, count) for place, count in enumerate(SIMULATIONS)]
        served = [Offer(url, label_of(url), f"served by {url.rpartition('/')[0]}", 3) for url in remote.offered(game)]
        return sorted(offers, key=lambda offer: -offer.strength) + self._runs_of(found) + served

    def _runs_of(self, game: games.Game | foreign.ForeignGame) -> list[Offer]:
        """The runs whose newest checkpoint fits the present version of this game."""
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

    def games(self) -> list[JsonObject]:
        """All games that load, with the facts that the gallery shows."""
        return [dict(facts) for facts in _games(tuple(found.name for found in games.catalogue() if found.game))]

    def picture(self, game: str) -> bytes:
        """A small picture of a game in the middle of play, as WebP."""
        if game not in games.names():
            raise unknown("game", game)
        return _picture(game)

    def forget(self, name: str) -> None:
        """Drop the cached agents of a deleted run."""
        home = str((self.out / name).absolute())
        with self.lock:
            for key in [key for key in self.loaded if key[0].startswith(f"{home}/")]:
                del self.loaded[key]


def label_of(url: str) -> str:
    """The name of a served agent."""
    return url.rpartition("/")[2]


def load(kind: str, game: str) -> Contestant:
    """An agent and its parameters; an error for a damaged checkpoint."""
    agent = agents.load(kind, game)
    return agent, agent.init(described(game).spec, 0)


def described(name: str) -> games.Game | foreign.ForeignGame:
    """A game that can be watched: a game of Ludus, or a registered environment of another library."""
    return foreign.describe(name) if foreign.is_foreign(name) else load_game(name)


def load_game(name: str) -> games.Game:
    """A game of Ludus by name; names of bridges are refused, because they could import any module."""
    if ":" in name:
        raise Refusal(f'"{name[:60]}" is from another library; use a game that ludus games lists', 404, "game")
    try:
        return games.load(name)
    except LudusError as error:
        raise Refusal(str(error), 404 if str(error).startswith("unknown game") else 422, "game") from None


def algorithms_for(game: games.Game) -> list[str]:
    """The algorithms that fit a game: its default first, then stand-alone algorithms, then methods of a family."""
    fitting = []
    for name in algorithms.names():
        with contextlib.suppress(LudusError):  # a broken algorithm of another author hides no other
            fitting += [name] if algorithms.settings_kind(name).fits(name, game) else []
    usual = _usual(game.name)
    return sorted(fitting, key=lambda name: (name != usual, algorithms.family(name) != name, name))


def _usual(game: str) -> str:
    from ludus.training import config

    return config.resolve(game).algorithm


def _kinds(game: str) -> list[str]:
    """The kinds of agents of a game of Ludus."""
    return [*agents.shipped_kinds(game), *agents.kinds_for(game), *["lookahead"] * lookahead.fits(game)]


def _search(place: int, count: int) -> Offer:
    note = f"tree search with {count:,} simulations per move"
    return Offer(f"mcts({count})", f"Search ({count:,})", note, 2 + place)


def _of_game(path: Path, game: games.Game | foreign.ForeignGame) -> checkpoint.Manifest | None:
    """The manifest of a checkpoint, if it can be read and fits the present version of this game."""
    try:
        manifest = checkpoint.read_manifest(path)
    except LudusError:
        return None
    same = manifest.game.partition("(")[0] == game.name and manifest.fingerprint == game.fingerprint
    return manifest if same else None


@functools.lru_cache(4)
def _games(names: tuple[str, ...]) -> list[JsonObject]:
    return [_game_facts(games.load(name)) for name in names]


def _game_facts(game: games.Game) -> JsonObject:
    spec, continuous = game.spec, isinstance(game.spec.actions, Continuous)
    parameters = {key: _parameter_facts(one) for key, one in games.parameters_of(game.rules).items()}
    facts = {"name": game.name, "title": game.title, "summary": game.summary, "seats": spec.seats, "turns": spec.turns}
    facts |= {"continuous": continuous, "parameters": parameters, "picture": f"/static/pictures/{game.name}.webp"}
    trained, playable = bool(agents.shipped_kinds(game.name)), hasattr(game.rules, "scene")
    facts |= {"dashboard": getattr(game.rules, "DASHBOARD", None)}
    return facts | {"algorithms": algorithms_for(game), "playable": playable, "trained": trained}


def _parameter_facts(parameter: Parameter) -> JsonObject:
    facts: JsonObject = {"default": parameter.default, "meaning": parameter.meaning}
    return facts | {"options": list(parameter.options), "by_hand": parameter.by_hand}


@functools.lru_cache(64)
def _picture(game: str) -> bytes:
    from ludus.evaluation import show

    played = show.play(game, seed=7, steps=60 if load_game(game).spec.seats == 1 else 5, every=1)
    if not played.frames:
        raise Refusal(f"{game} has no picture", 404)
    return webp(played.frames[-1], played.frame)


def webp(shapes: Array, frame: tuple[int, int], width: int = 480) -> bytes:
    """Encode a picture as WebP."""
    from ludus.rendering import images

    buffer = io.BytesIO()
    images.image(shapes, frame, scale=min(width / frame[0], 2.0)).save(buffer, "WEBP", quality=80, method=4)
    return buffer.getvalue()
