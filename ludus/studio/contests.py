"""Evaluations and battles as jobs, with agents by the names that the shelf gives them."""

from __future__ import annotations

from typing import Any

from ludus import battle, checkpoint
from ludus.studio import Studio
from ludus.studio.jobs import Job, Tell
from ludus.studio.refusal import Refusal
from ludus.studio.shelf import PERSON, load_game


def evaluate(studio: Studio, name: str, trial: Any) -> Job:
    """Begin to measure the agent of a run: alone, or against somebody where there is one to play against."""
    path = studio.shelf.checkpoint(name, trial.checkpoint)
    game = checkpoint.read_manifest(path).game
    seats = load_game(game).spec.seats
    against = studio.shelf.kind(trial.against, game) if seats > 1 else None
    what = f"{name} plays {trial.games:,} games" + (f" against {trial.against}" if against else "")
    return studio.jobs.start(what, lambda tell: _evaluated(str(path), game, against, trial, tell))


def _evaluated(path: str, game: str, against: str | None, trial: Any, tell: Tell) -> dict[str, Any]:
    from ludus import agents, evaluate
    from ludus.agents import trained

    agent = trained.load(path, game)
    if against is None:
        score = evaluate.score(game, agent, agent.params, trial.games, 0, tell=tell)
        means = {name: mean._asdict() for name, mean in score.measures.items()}
        alone = {"score": score.interval._asdict(), "games": trial.games, "length": float(score.lengths.mean())}
        return alone | {"measures": means}
    opponent = agents.load(against, game)
    players = [(agent, agent.params), (opponent, opponent.init(load_game(game).spec, 0))]
    games = trial.games + trial.games % 2
    result = evaluate.match(game, players, games, 0, tell=tell)
    counts = {"games": games, "wins": result.wins, "draws": result.draws, "losses": result.losses}
    return {"score": result.interval._asdict(), "rate": result.rate._asdict(), "against": trial.against, **counts}


def fight(studio: Studio, game: str, names: list[str], games: int) -> Job:
    """Begin a battle of everyone against everyone."""
    found = load_game(game)
    if found.spec.seats < 2:
        raise Refusal(
            f"{found.title} has one seat, so nobody plays anybody; compare the scores of runs instead", 422, "game"
        )
    if PERSON in names:
        raise Refusal("a person plays in a room, not in a battle", 422, "agents")
    if not 2 <= len(names) <= battle.MOST_AGENTS:
        raise Refusal(f"a battle is of 2 to {battle.MOST_AGENTS} agents, not {len(names)}", 422, "agents")
    kinds = [studio.shelf.kind(name, game) for name in names]
    what = f"{found.title}: {', '.join(names)}"[:200]
    pairs = len(names) * (len(names) - 1) // 2
    return studio.jobs.start(what, lambda tell: _fought(game, kinds, names, games + games % 2, pairs, tell))


def _fought(game: str, kinds: list[str], names: list[str], games: int, pairs: int, tell: Tell) -> dict[str, Any]:
    so_far = Progress(tell, pairs * games)
    result = battle.tournament(game, kinds, games, 0, 0, so_far.tell)
    called = dict(zip(battle.names_of(kinds), battle.names_of(names), strict=True))
    ratings = [{"rating": one.rating, "low": one.low, "high": one.high} for one in result.ratings]
    shown = [called[name] for name in result.names]
    return {"game": game, "names": shown, "ratings": ratings, "payoff": result.payoff.tolist(), "games": games}


class Progress:
    """Counts the games of all pairs, of which each tells from 0 to its last."""

    def __init__(self, tell: Tell, total: int) -> None:
        self.heard, self.total, self.before, self.last = tell, total, 0, 0

    def tell(self, what: str, done: int, total: int) -> None:
        if done <= self.last:  # the next two have begun
            self.before += total
        self.last = done
        self.heard(what, min(self.before + done, self.total), self.total)
