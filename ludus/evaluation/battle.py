"""Battles: two agents in a match of paired games, or many in a round robin with ratings.

Games come in pairs with the same opening and swapped seats, so that chance favours neither agent. One of two agents may
be a person: then games are played one after the other, and finished games count even if the person leaves early.
"""

from __future__ import annotations

import contextlib
import functools
import math
import pathlib
import re
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ludus import agents
from ludus.agents import remote
from ludus.agents.player import Contestant, Player
from ludus.agents.players import person
from ludus.agents.players.person import Left, Person
from ludus.bridges import AnyPool, open_pool
from ludus.evaluation import parts, replays, scores, terminal
from ludus.evaluation.parts import Part, Spread
from ludus.evaluation.play import Counts, Tell, by_game, decide, new_openings, new_players
from ludus.evaluation.ratings import Rating, bradley_terry, elo
from ludus.evaluation.replays import Replay
from ludus.evaluation.statistics import Interval
from ludus.rendering import heatmap
from ludus.types import Array, JsonObject, LudusError

ONE_OPPONENT = "a person plays one opponent at a time; name two agents, like person mcts(200)"
MOST_AGENTS, MOST_KEPT = heatmap.MOST, 10_000


class Talk(NamedTuple):
    """Functions that prompt a person and print messages."""

    ask: terminal.Ask = input
    tell: terminal.Tell = print


class Battle(NamedTuple):
    """A match of two agents; the results are those of the first."""

    names: tuple[str, str]
    match: scores.Match
    seconds: float
    replays: tuple[Replay, ...]
    """the first games"""


class Tournament(NamedTuple):
    """A round robin; agents are sorted, the best first."""

    game: str
    names: tuple[str, ...]
    payoff: Array
    """[n, n] share of points that the agent of the row won against that of the column; NaN on the diagonal"""
    ratings: tuple[Rating, ...]
    elo: tuple[float, ...]
    battles: tuple[Battle, ...]


def game_of(kinds: Sequence[str], game: str | None) -> str:
    """The given game, or else the game of the first run among the agents."""
    _check_agents(kinds)
    if game is not None:
        return game
    found = game_of_runs(kinds)
    if found is None:
        raise LudusError("no game given, and none of these agents is a run; add for example --game tictactoe")
    return found


def game_of_runs(kinds: Sequence[str]) -> str | None:
    """The game of the first run among the agents, or None if there is no run."""
    for kind in kinds:
        if kind == person.NAME:
            continue
        if remote.is_url(kind):
            return str(remote.model_at(kind)["game"])
        if agents.is_path(kind):
            return agents.game_of(kind)
    return None


def names_of(kinds: Sequence[str]) -> tuple[str, ...]:
    """The names of the agents: their kinds, with a number if a kind appears more than once."""
    return tuple(
        kind if kind not in kinds[:place] else f"{kind} #{1 + kinds[:place].count(kind)}"
        for place, kind in enumerate(kinds)
    )


def battle(
    game: str, kinds: Sequence[str], games: int = 1000, seed: int = 0, keep: int = 0, tell: Tell | None = None,
    talk: Talk | None = None, spread: Spread = parts.here,
) -> Battle:  # fmt: skip
    """A match of two kinds of agents (as for `agents.load`); a `person` plays through `talk`.

    `spread` plays the games: in this process, or in the workers of a runtime. The result is the same.
    """
    if person.NAME in kinds:
        check_here(spread)
        return _battle_with_person(game, kinds, games, seed, keep, talk or Talk())
    return _battles(game, kinds, games, seed, keep, tell, [(0, 1)], spread)[0]


def check_here(spread: Spread) -> None:
    """Raise LudusError for a person who would have to play in the workers of a runtime."""
    if spread is not parts.here:
        raise LudusError("a person cannot play in the workers of a runtime; leave out --runtime")


def tournament(
    game: str, kinds: Sequence[str], games: int = 1000, seed: int = 0, keep: int = 0, tell: Tell | None = None,
    spread: Spread = parts.here,
) -> Tournament:  # fmt: skip
    """A round robin with `games` games for each pair of agents."""
    if person.NAME in kinds:
        raise LudusError(ONE_OPPONENT)
    pairs = [(one, other) for one in range(len(kinds)) for other in range(one + 1, len(kinds))]
    fought = _battles(game, kinds, games, seed, keep, tell, pairs, spread)
    points = np.zeros((len(kinds), len(kinds)))
    for (one, other), result in zip(pairs, fought, strict=True):
        points[one, other] = result.match.wins + result.match.draws / 2
        points[other, one] = games - points[one, other]
    ratings, sequence = bradley_terry(points), elo(*_games_in_order(pairs, fought), len(kinds))
    order = sorted(range(len(kinds)), key=lambda player: -ratings[player].rating)
    payoff = np.where(np.eye(len(kinds), dtype=bool), np.nan, points / games)[np.ix_(order, order)]
    names = names_of(kinds)
    return Tournament(
        game, tuple(names[player] for player in order), payoff, tuple(ratings[player] for player in order),
        tuple(sequence[player] for player in order), tuple(fought),
    )  # fmt: skip


def openings(games: int, seed: int) -> Array:
    """[games] seeds; two consecutive games share one."""
    return new_openings(games, seed, each=2)


def save(folder: pathlib.Path, result: Battle | Tournament) -> list[pathlib.Path]:
    """Write the recorded games and, for a tournament, the heat map; return the written paths."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LudusError(f'cannot create the folder "{folder}": {error.strerror}; choose another with --out') from None
    written = []
    if isinstance(result, Tournament):
        written.append(folder / "payoff.png")
        heatmap.heatmap(written[0], result.names, result.payoff, f"{result.game}: who beats whom")
    for place, fought in enumerate(result.battles if isinstance(result, Tournament) else [result], start=1):
        for number, replay in enumerate(fought.replays, start=1):
            written.append(folder / f"{place:02d}-{_file_name(fought.names)}-{number:04d}{replays.SUFFIX}")
            replays.save(written[-1], replay)
    return written


def facts(result: Battle) -> JsonObject:
    """A battle as JSON data."""
    match = result.match
    seats = [seat._asdict() | {"interval": _interval_facts(seat.interval)} for seat in match.seats]
    counts = {"games": match.games, "wins": match.wins, "draws": match.draws, "losses": match.losses}
    speed = {"seconds": result.seconds, "games_per_second": match.games / result.seconds}
    rate = {"rate": _interval_facts(match.rate), "mean": _interval_facts(match.interval), "cut": match.cut}
    return {"agents": list(result.names), **counts, **rate, "seats": seats, **speed}


def _interval_facts(found: Interval) -> dict[str, float | None]:
    """An interval as JSON data: None for an infinite end, which occurs with fewer than two games."""
    return {name: value if math.isfinite(value) else None for name, value in found._asdict().items()}


def tournament_facts(result: Tournament) -> JsonObject:
    """A tournament as JSON data, the best agent first."""
    rows = zip(result.names, result.ratings, result.elo, strict=True)
    table = [{"agent": name, **rating._asdict(), "elo": number} for name, rating, number in rows]
    payoff = [[None if np.isnan(share) else share for share in row] for row in result.payoff.tolist()]
    return {"agents": table, "payoff": payoff, "battles": [facts(one) for one in result.battles]}


def match_text(game: str, result: Battle) -> str:
    """The results of a battle as text."""
    match, (one, other) = result.match, result.names
    if not match.games:
        return f"{game}: {one} against {other}, no game was finished"
    rate = f"{100 * match.rate.estimate:.1f} % ({100 * match.rate.low:.1f} to {100 * match.rate.high:.1f}, 95 %)"
    lines = [
        f"{game}: {one} against {other}, {match.games} game{'s' * (match.games > 1)}",
        f"{one} won {rate} of the points",
        "",
    ]
    lines.append(f"{'':<8} {'games':>8} {'won':>8} {'drawn':>8} {'lost':>8} {'mean return':>12}")
    lines += [_line(f"seat {seat.seat}", seat) for seat in match.seats]
    lines.append(_line("all", match))
    cut = f", {match.cut} cut off" if match.cut else ""
    speed = match.games / result.seconds
    pace = f"{speed:,.0f} games/s" if speed >= 1 else f"{result.seconds / match.games:,.0f} s per game"
    return "\n".join([*lines, "", pace + cut])


def _line(name: str, row: scores.Match | scores.SeatMatch) -> str:
    counts = f"{row.games:>8} {row.wins:>8} {row.draws:>8} {row.losses:>8}"
    return f"{name:<8} {counts} {row.interval.estimate:>+12.3f}"


def tournament_text(result: Tournament) -> str:
    """The table of a tournament: ratings, and the percentage of points of each agent against each other."""
    width = max(5, *(len(name) for name in result.names))
    heads = "".join(f"{place:>5}" for place in range(1, len(result.names) + 1))
    lines = [f"{result.game}: {result.battles[0].match.games} games per pair of agents", ""]
    lines.append(f"{'':>3} {'agent':<{width}} {'rating':>8} {'95 %':>14} {'elo':>7} {heads}")
    for place, (name, rating, number) in enumerate(zip(result.names, result.ratings, result.elo, strict=True)):
        shares = "".join(
            f"{'-' if np.isnan(one) else heatmap.percent(one):>5}" for one in result.payoff[place].tolist()
        )
        spread = f"{rating.low:.0f} to {rating.high:.0f}"
        lines.append(f"{place + 1:>3} {name:<{width}} {rating.rating:>8.0f} {spread:>14} {number:>7.0f} {shares}")
    seconds = sum(one.seconds for one in result.battles)
    speed = sum(one.match.games for one in result.battles) / seconds
    return "\n".join([*lines, "", f"columns: % of the points won against that agent; {speed:,.0f} games/s"])


def _battles(
    game: str, kinds: Sequence[str], games: int, seed: int, keep: int, tell: Tell | None,
    pairs: list[tuple[int, int]], spread: Spread,
) -> list[Battle]:  # fmt: skip
    """The battles of these pairs of agents; all play the same openings, which makes ratings comparable."""
    _check_agents(kinds)
    _check_counts(games, keep)
    matches = [parts.whole(game, (kinds[one], kinds[other]), games, seed, 2, keep) for one, other in pairs]
    pool = open_pool(game, 1, seed, threads=1)
    try:
        parts.check(pool, matches[0])
        names = names_of(kinds)
        return [
            _battle(pool, (names[one], names[other]), match, result)
            for (one, other), match, result in zip(pairs, matches, spread(matches, tell), strict=True)
        ]
    finally:
        pool.close()


def _battle(pool: AnyPool, names: tuple[str, str], match: Part, result: parts.Result) -> Battle:
    """A battle from the games that were played."""
    found = scores.match_of(result.played, _seating(pool, np.arange(match.games)[:, None]), 2)
    kept = _replays_of(pool, names, openings(match.games, match.seed), result.recorded)
    return Battle(names, found, result.seconds, kept)


def _check_agents(kinds: Sequence[str]) -> None:
    if not 2 <= len(kinds) <= MOST_AGENTS:
        raise LudusError(f"a battle needs 2 to {MOST_AGENTS} agents, not {len(kinds)}; name them: random mcts runs/…")


def _check_counts(games: int, keep: int) -> None:
    if not 1 <= games <= 10_000_000 or not 0 <= keep <= MOST_KEPT:
        raise LudusError(f"--games must be 1 to 10000000 and --keep 0 to {MOST_KEPT}, not {games} and {keep}")


def _player(pool: AnyPool, kind: str, game: str, seed: int, talk: Talk | None = None) -> Contestant:
    agent = Person(functools.partial(_ask_person, talk)) if talk and kind == person.NAME else agents.load(kind, game)
    return agent, agent.init(pool.spec, seed)


def _replays_of(pool: AnyPool, names: tuple[str, str], seeds: Array, recorded: list[list[Array]]) -> tuple[Replay, ...]:
    """The replays of the recorded games."""
    return tuple(
        replays.record(pool.name, int(seeds[game]), [names[place] for place in _seating(pool, game)], actions)
        for game, actions in enumerate(recorded)
    )


def _seating(pool: AnyPool, game: int | Array) -> Array:
    """[seats] the index of the player in each seat of this game; [games, seats] for a column of games."""
    return (np.arange(pool.spec.seats) + game) % 2


def _battle_with_person(game: str, kinds: Sequence[str], games: int, seed: int, keep: int, talk: Talk) -> Battle:
    """A match with a person, one game after the other, until the person leaves."""
    _check_counts(games, keep)
    if len(kinds) != 2:
        raise LudusError(ONE_OPPONENT)
    pool = open_pool(game, 1, seed, threads=1)
    try:
        parts.check(pool, parts.whole(game, kinds, games, seed, 2, keep))
        players = new_players([_player(pool, kind, game, seed, talk) for kind in kinds], pool, seed)
        one, other = names_of(kinds)
        return _play_games(pool, (one, other), players, games, seed, keep, talk)
    finally:
        pool.close()


def _play_games(
    pool: AnyPool, names: tuple[str, str], players: list[Player], games: int, seed: int, keep: int, talk: Talk
) -> Battle:
    """Play until all games are finished or the person leaves; an unfinished game is recorded up to there."""
    counts, recorded, seeds = Counts(pool, games), list[list[Array]](), openings(games, seed)
    start = time.perf_counter()
    with contextlib.suppress(Left):
        for game in range(games):
            recorded.append([])
            seats = ", ".join(f"{names[place]} has seat {seat}" for seat, place in enumerate(_seating(pool, game)))
            talk.tell(f"Game {game + 1} of {games}: {seats}. Type a move, or quit.")
            pool.reset([int(seeds[game])])
            _play_game(pool, names, players, counts, game, recorded[-1], talk)
    seconds = time.perf_counter() - start
    begun = [actions for actions in recorded[:keep] if actions]
    match = scores.match_of(counts.played(), _seating(pool, np.arange(counts.done)[:, None]), 2)
    return Battle(names, match, seconds, _replays_of(pool, names, seeds, begun))


def _play_game(
    pool: AnyPool, names: tuple[str, str], players: list[Player], counts: Counts, game: int, recorded: list[Array],
    talk: Talk,
) -> None:  # fmt: skip
    """Play one game to its end."""
    seating = _seating(pool, game)
    while counts.done == game:
        step, place = pool.step, int(seating[int(pool.step.seat[0])])
        action = decide(players, pool.spec, step, np.ones(1, bool), seating[step.seat])
        recorded.append(by_game(pool.spec, action)[0].copy())
        if not isinstance(players[place].agent, Person):
            talk.tell(f"{names[place]} plays {pool.action_name(int(action[0]), seat=1 - int(step.seat[0]))}")
        counts.add(np.array([game]), pool.advance(action), pool.status)
    got = ", ".join(f"{names[place]} {counts.returns[game, seat]:+g}" for seat, place in enumerate(seating))
    talk.tell(f"{pool.describe()}\nGame {game + 1} is over: {got}")


def _ask_person(talk: Talk, pool: AnyPool) -> int:
    """Show a person the position and its legal moves, and ask for a move."""

    def ask(prompt: str) -> str:
        while (words := talk.ask(prompt).strip()) in ("hint", "undo"):
            talk.tell(f"{words} is not available in a battle, which counts; use ludus play to practise")
        return words

    legal = [pool.action_name(int(action)) for action in np.flatnonzero(pool.step.mask[0])]
    talk.tell(f"{pool.describe()}\nmoves: {terminal.listed(legal)}")
    choice = terminal.choose(pool, ask, talk.tell)
    if choice == "quit":
        raise Left
    return int(choice)


def _games_in_order(pairs: list[tuple[int, int]], fought: list[Battle]) -> tuple[Array, Array, Array]:
    """All games in the order in which Elo counts them, round by round: first and second player, points of the first."""
    returns = np.stack([result.match.returns for result in fought], axis=1)
    points = (np.sign(returns[..., 0] - returns[..., 1]) + 1) / 2
    first, second = (np.tile([pair[end] for pair in pairs], len(points)) for end in (0, 1))
    return first, second, points.ravel()


def _file_name(names: tuple[str, str]) -> str:
    """The names as part of a file name."""
    return "-".join(re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[-40:] or "agent" for name in names)
