"""Evaluations and battles as jobs; agents are named as on the shelf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludus.agents import checkpoint
from ludus.evaluation import battle
from ludus.studio import Studio
from ludus.studio.jobs import Job, Tell
from ludus.studio.refusal import Refusal
from ludus.studio.shelf import PERSON, load_game
from ludus.types import JsonObject

if TYPE_CHECKING:
    from ludus.studio.api.runs import Trial


def evaluate(studio: Studio, name: str, trial: Trial) -> Job:
    """Start to evaluate the agent of a run: alone in games of one seat, otherwise against an opponent."""
    path = studio.shelf.checkpoint(name, trial.checkpoint)
    game = checkpoint.read_manifest(path).game
    seats = load_game(game).spec.seats
    against = studio.shelf.kind(trial.against, game) if seats > 1 else None
    what = f"{name} plays {trial.games:,} games" + (f" against {trial.against}" if against else "")
    return studio.jobs.start(what, lambda tell: _run_evaluation(str(path), game, against, trial, tell))


def _run_evaluation(path: str, game: str, against: str | None, trial: Trial, tell: Tell) -> JsonObject:
    from ludus import agents
    from ludus.agents import trained
    from ludus.evaluation import scores
    from ludus.evaluation.play import new_openings

    agent = trained.load(path, game)
    if against is None:
        openings = new_openings(trial.games, 0)
        score = scores.score(game, agent, agent.params, trial.games, 0, tell=tell, openings=openings)
        means = {name: mean._asdict() for name, mean in score.measures.items()}
        alone = {"score": score.interval._asdict(), "games": trial.games, "length": float(score.lengths.mean())}
        return alone | {"measures": means}
    opponent = agents.load(against, game)
    players = [(agent, agent.params), (opponent, opponent.init(load_game(game).spec, 0))]
    games = trial.games + trial.games % 2
    result = scores.match(game, players, games, 0, tell=tell, openings=new_openings(games, 0))
    counts = {"games": games, "wins": result.wins, "draws": result.draws, "losses": result.losses}
    return {"score": result.interval._asdict(), "rate": result.rate._asdict(), "against": trial.against, **counts}


def fight(studio: Studio, game: str, names: list[str], games: int) -> Job:
    """Start a round robin."""
    found = load_game(game)
    if found.spec.seats < 2:
        raise Refusal(f"{found.title} has only one seat; compare the scores of runs instead", 422, "game")
    if PERSON in names:
        raise Refusal("a person cannot take part in a battle; open a room to play", 422, "agents")
    if not 2 <= len(names) <= battle.MOST_AGENTS:
        raise Refusal(f"a battle needs 2 to {battle.MOST_AGENTS} agents, not {len(names)}", 422, "agents")
    kinds = [studio.shelf.kind(name, game) for name in names]
    what = f"{found.title}: {', '.join(names)}"[:200]
    pairs = len(names) * (len(names) - 1) // 2
    return studio.jobs.start(what, lambda tell: _run_battle(game, kinds, names, games + games % 2, pairs, tell))


def _run_battle(game: str, kinds: list[str], names: list[str], games: int, pairs: int, tell: Tell) -> JsonObject:
    so_far = Progress(tell, pairs * games)
    result = battle.tournament(game, kinds, games, 0, 0, so_far.tell)
    called = dict(zip(battle.names_of(kinds), battle.names_of(names), strict=True))
    ratings = [{"rating": one.rating, "low": one.low, "high": one.high} for one in result.ratings]
    shown = [called[name] for name in result.names]
    return {"game": game, "names": shown, "ratings": ratings, "payoff": result.payoff.tolist(), "games": games}


class Progress:
    """Adds up the progress of all pairs, each of which counts its own games from 0."""

    def __init__(self, tell: Tell, total: int) -> None:
        self.report, self.total, self.before, self.last = tell, total, 0, 0

    def tell(self, what: str, done: int, total: int) -> None:
        if done <= self.last:  # the next pair has started
            self.before += total
        self.last = done
        self.report(what, min(self.before + done, self.total), self.total)
