"""`ludus runs`, `evaluate`, `inspect`: list, evaluate and inspect trained agents."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Annotated, NamedTuple

import tyro

from ludus.cli.application import app, print_json
from ludus.cli.runtimes import RuntimeSettings, check_local, spread_of
from ludus.types import JsonObject, LudusError, Spec

if TYPE_CHECKING:
    from ludus.evaluation.exhaustive import Lines
    from ludus.evaluation.parts import Entrant, Spread
    from ludus.training.folder import Summary

Folder = Annotated[pathlib.Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]


@app.command(name="runs")
def list_runs(
    names: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="[RUN …]")] = (),
    out: pathlib.Path = pathlib.Path("runs"),
    plot: pathlib.Path | None = None,
    json: bool = False,
) -> None:
    """List training runs with their progress and score, and plot their scores.

    Args:
        names: Names of the runs to list; by default all.
        out: Folder that contains the runs.
        plot: PNG file to write, with the scores of these runs over their steps.
        json: Print one JSON object instead of text.
    """
    found = _summaries(names, out)
    if json:
        print_json({"runs": [summary._asdict() for summary in found]})
    elif found:
        print("\n".join(_line(summary) for summary in found))
    else:
        print(f'no runs in "{out}" yet; start one: ludus train tictactoe')
    if plot is not None:
        from ludus.rendering import plots
        from ludus.training.runs import score_series

        plots.curves(plot, [score_series(out / summary.name) for summary in found], "scores", "steps", "score")


def _summaries(names: tuple[str, ...], out: pathlib.Path) -> list[Summary]:
    """Summaries of the named runs, or of all runs if no name is given."""
    from ludus.training.folder import list_runs as summaries

    wanted = [pathlib.Path(name).name for name in names]
    found = [summary for summary in summaries(out) if not wanted or summary.name in wanted]
    missing = set(wanted) - {summary.name for summary in found}
    if missing:
        raise LudusError(f'there is no run "{min(missing)}" in "{out}"; ludus runs lists all runs')
    return found


def _line(summary: Summary) -> str:
    if not summary.algorithm:
        return f"{summary.name:<28} {summary.game}"
    half = ((summary.high or 0.0) - (summary.low or 0.0)) / 2.0
    score = "no score yet" if summary.score is None else f"{summary.score:.4g} ± {half:.2g}"
    share = f"{summary.steps:,} of {summary.of:,}"
    return f"{summary.name:<28} {summary.algorithm:<20} {share:>28} {score:>18} {summary.seconds:8.1f} s"


@app.command
def evaluate(
    what: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|GAME")], /, agent: str | None = None,
    games: int = 1000, against: str = "random", seed: int = 0, lines: bool = False, json: bool = False,
    runtime: str = "local", workers: int = 0, settings: RuntimeSettings = None,
) -> None:  # fmt: skip
    """Evaluate an agent without exploration: its score with a confidence interval, and the measures of the game.

    Args:
        what: Folder of a run or of a checkpoint, an exported file, or the address of a served agent
            (http://host:port/model); with --agent, the name of a game.
        agent: The player in a game: expert, greedy, perfect, scripted, random, mcts, trained or lookahead.
        games: Number of games, 1 or more; in a match, a multiple of the number of players.
        against: The opponent in games with several seats: random, perfect, scripted, mcts, lookahead, or a run.
        seed: Random seed; the same seed gives the same games.
        lines: Instead of sampling games, check every line of play of every opponent, from each seat (small games only).
        json: Print one JSON object instead of text.
        runtime: Where games are played: local (in this process), processes or ray; the result is the same.
        workers: Number of workers of the runtime; 0 for one per core.
    """
    from ludus.evaluation import scores as evaluation

    player = _player(what, agent)
    if lines:
        check_local(runtime, "--lines")
        _print_lines(evaluation.exhaustive(player.game, player.entrant.agent, player.entrant.params), what, json)
        return
    with spread_of(runtime, workers, settings) as spread:
        alone = player.spec.seats == 1
        facts = _scored(player, games, seed, spread) if alone else _matched(player, against, games, seed, spread)
    if json:
        print_json({**player.names, "game": player.game, **facts})
    else:
        print(_score_text(player.game, facts))


class _Evaluated(NamedTuple):
    """The agent to evaluate, and its game."""

    game: str
    spec: Spec
    entrant: Entrant
    names: dict[str, str]


def _player(what: str, kind: str | None) -> _Evaluated:
    from ludus.agents import exported, remote, trained
    from ludus.evaluation.parts import Entrant

    if kind is None and remote.is_url(what):
        return _named(str(remote.model_at(what)["game"]), what, {"agent": what})
    if kind is None and exported.is_exported(what):
        file = exported.load(what)
        return _Evaluated(file.metadata.game, file.spec, Entrant(what, file, ()), {"file": what})
    if kind is None:
        agent = trained.load(pathlib.Path(what))
        names = {"run": what, "checkpoint": str(agent.path)}
        return _Evaluated(agent.manifest.game, agent.agent.spec, Entrant(str(agent.path), agent, agent.params), names)
    return _named(what, kind, {"agent": kind})


def _named(game: str, kind: str, names: dict[str, str]) -> _Evaluated:
    from ludus import agents
    from ludus.evaluation.parts import Entrant

    spec = _spec_of(game)
    chosen = agents.load(kind, game)
    return _Evaluated(game, spec, Entrant(kind, chosen, chosen.init(spec, 0)), names)


def _spec_of(game: str) -> Spec:
    """The spec of any game that `open_pool` opens."""
    from ludus.bridges import open_pool

    pool = open_pool(game, 1, threads=1)
    pool.close()
    return pool.spec


def _scored(player: _Evaluated, games: int, seed: int, spread: Spread) -> JsonObject:
    """The score in a game with one seat."""
    from ludus.evaluation import parts

    score = parts.evaluated(player.entrant, player.game, games, seed, spread)
    measures = {name: mean._asdict() for name, mean in score.measures.items()}
    return {"games": games, "score": score.interval._asdict(), "length": float(score.lengths.mean()), **measures}


def _matched(player: _Evaluated, against: str, games: int, seed: int, spread: Spread) -> JsonObject:
    """The score against an opponent in the other seats."""
    from ludus import agents
    from ludus.evaluation import parts

    agent = agents.load(against, player.game)
    opponent = parts.Entrant(against, agent, agent.init(player.spec, seed))
    result = parts.matched(player.entrant, opponent, player.spec, player.game, games, seed, spread)
    counts = {"wins": result.wins, "draws": result.draws, "losses": result.losses}
    return {"games": games, "score": result.interval._asdict(), "against": against, **counts}


def _score_text(name: str, facts: JsonObject) -> str:
    score = facts["score"]
    spread = f"({score['low']:.4f} to {score['high']:.4f}, 95 %)"
    alone = f"{name}: {score['estimate']:.4f} {spread} over {facts['games']} games"
    if "against" not in facts:
        means = {key: value for key, value in facts.items() if isinstance(value, dict) and key != "score"}
        lines = (f"  {key}: {m['estimate']:.4f} ({m['low']:.4f} to {m['high']:.4f})" for key, m in means.items())
        return "\n".join([alone, *lines])
    counts = f"{facts['wins']} won, {facts['draws']} drawn, {facts['losses']} lost"
    return f"{alone} against {facts['against']}: {counts}"


def _print_lines(found: Lines, run: str, json: bool) -> None:
    if json:
        print_json(
            {"run": run, "worst": found.worst, "exact": found.exact, "seats": [s._asdict() for s in found.seats]}
        )
        return
    for seat in found.seats:
        print(f"seat {seat.seat}: {seat.positions:,} positions, {seat.lines:,} lines, worst result {seat.worst:g}")
        if seat.worst < 0:
            print(f"        lost by {' '.join(seat.line)}")


@app.command
def inspect(run: Folder, /, moves: tuple[str, ...] = (), seed: int = 0, speed: bool = True, json: bool = False) -> None:
    """Show the contents of a checkpoint and its evaluation of a position.

    Args:
        run: Folder of a run or of a checkpoint.
        moves: Names of the moves that lead to the position; by default the first position.
        seed: Random seed of the game.
        speed: Measure forward passes of a network for 1, 8 and 64 rows, which compiles it three times.
        json: Print one JSON object instead of text.
    """
    from ludus.evaluation import inspection

    facts = inspection.inspect(run, moves, seed, speed)
    if json:
        print_json(facts)
    else:
        print(inspection.as_text(facts))
