"""Tools that train and evaluate: every trainer and every evaluation is a process of its own, and both are bounded."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field, StrictInt

from ludus import algorithms, games
from ludus.dsl.cache import interpreted
from ludus.server.games import Games
from ludus.server.mcp.answers import answered, finite, plain
from ludus.server.mcp.play import check_name
from ludus.server.mcp.schemas import AgentName, GameName, Report, RunFacts, RunList, RunName, Seed
from ludus.server.problems import Problem
from ludus.training import config, control, loggers, runs
from ludus.training.folder import METRICS, SETTINGS, Summary, list_runs, summary
from ludus.training.trainer_process import forget_unstarted, launch
from ludus.types import JsonObject

MOST_STEPS, MOST_GAMES = 100_000_000, 1_000
AT_ONCE, MOST_RUNS = 2, 100
"""trainers at the same time, and runs that one server starts"""
EVALUATIONS, PATIENCE = 2, 600.0
"""evaluations at the same time, and seconds that one may take"""
STOPPING = 10.0
"""seconds that trainers get to save when the server ends"""
LIVING = ("training", "paused")
LISTED = 200


@dataclass
class WorkTools:
    """Training runs and evaluations in one folder of runs."""

    games: Games
    out: pathlib.Path
    most_steps: int = MOST_STEPS
    _trainers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _started: int = 0
    _evaluating: int = 0

    async def train(
        self, game: GameName, steps: Annotated[StrictInt, Field(ge=1, le=MOST_STEPS)],
        algorithm: Annotated[str, Field(max_length=60)] = "", seed: Seed = 0,
    ) -> Annotated[CallToolResult, RunFacts]:  # fmt: skip
        """Start a training run and return at once; `runs` shows its progress, stop_training ends it.

        Without an algorithm, the preset of the game decides. The trained agent can then be named by the name of the
        run, as opponent, advisor, or in evaluate.
        """
        if steps > self.most_steps:
            raise Problem(422, "invalid", f"a run may have at most {self.most_steps:,} steps on this server")
        if algorithm and algorithm not in algorithms.names():
            known = ", ".join(algorithms.names())
            raise Problem(422, "invalid", f'there is no algorithm "{algorithm}"; there are {known}')
        folder = await self.games.look(self._begin, game, algorithm or None, steps, seed)
        facts = facts_of(self.out, summary(folder))
        return answered(f"started {folder.name}: {facts['algorithm']} on {game}, {steps:,} steps", facts)

    def _begin(self, game: str, algorithm: str | None, steps: int, seed: int) -> pathlib.Path:
        if len(self._living()) >= AT_ONCE:
            raise Problem(409, "busy", f"{AT_ONCE} runs are being trained, the maximum; stop one with stop_training")
        if self._started >= MOST_RUNS:
            raise Problem(409, "busy", f"this server has started {MOST_RUNS} runs, the maximum; restart it for more")
        with interpreted():
            games.load(check_name(game))
        run = dataclasses.replace(config.resolve(game, algorithm, "", steps), steps=steps, seed=seed % 2**31)
        folder = runs.prepare(run, self.out)
        self._started += 1
        self._trainers[folder.name] = launch(folder, None)
        return folder

    def _living(self) -> list[str]:
        for name, child in list(self._trainers.items()):
            if child.poll() is not None:
                forget_unstarted(self.out / name, child)
                del self._trainers[name]
        return list(self._trainers)

    async def stop_training(self, run: RunName) -> Annotated[CallToolResult, RunFacts]:
        """Stop a run that this server trains; it saves a checkpoint first."""
        if run not in self._living():
            raise Problem(409, "not_training", f'this server does not train "{run[:60]}" now')
        self._trainers[run].terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOPPING):
                while run in self._living():
                    await asyncio.sleep(0.05)
        facts = facts_of(self.out, summary(self.out / run))
        return answered(line_of(facts), facts)

    async def runs(self, run: RunName | None = None) -> Annotated[CallToolResult, RunList]:
        """List the training runs with their status, progress and score; or one of them."""
        self._living()
        found = [summary(self.folder(run))] if run else await self.games.look(list_runs, self.out)
        rows = [facts_of(self.out, one) for one in found[-LISTED:]]
        return answered("\n".join(map(line_of, rows)) or "There are no runs yet.", {"runs": rows})

    def folder(self, run: str) -> pathlib.Path:
        """The folder of a run by its name; raises Problem if there is none."""
        found = self.games.bench.run(run)
        if found is None:
            raise Problem(404, "run_not_found", "there is no run of this name; runs lists all")
        return found

    async def evaluate(
        self, agent: AgentName, game: GameName | None = None,
        games: Annotated[StrictInt, Field(ge=1, le=MOST_GAMES)] = 200, against: AgentName = "random", seed: Seed = 0,
    ) -> Annotated[CallToolResult, Report]:  # fmt: skip
        """Evaluate an agent: its mean score with a 95 % confidence interval, or its results against an opponent.

        A run plays its own game; other agents need `game`. Cancelling the call ends the evaluation.
        """
        words = await self.games.look(self._command, agent, game, against)
        if self._evaluating >= EVALUATIONS:
            raise Problem(409, "busy", f"{EVALUATIONS} evaluations are running, the maximum; wait for one to end")
        self._evaluating += 1
        try:
            facts = await finished([*words, "--games", str(games), "--seed", str(seed % 2**31), "--json"])
        finally:
            self._evaluating -= 1
        shown = {key: value for key, value in facts.items() if key not in ("run", "checkpoint")} | {"agent": agent}
        if "against" in shown:
            shown["against"] = against  # instead of the path of its checkpoint
        return answered(json.dumps(plain(shown)), {"facts": plain(shown)})

    def _command(self, agent: str, game: str | None, against: str) -> list[str]:
        """The words of `ludus evaluate`; names are checked, and only this folder's runs become paths."""
        folder = self.games.bench.run(agent)
        if folder is not None:
            name = config.read(folder / SETTINGS).game
            if game not in (None, name):
                raise Problem(422, "invalid", f'the run "{agent}" plays {name}; leave out the game')
        elif game is None:
            raise Problem(422, "invalid", f'"{agent[:60]}" is not a run, so name the game that it should play')
        else:
            name = game
        with interpreted():
            played = games.load(check_name(name))
        bench = self.games.bench
        what = [bench.kind(agent, played)] if folder else [played.full_name, "--agent", bench.kind(agent, played)]
        return ["evaluate", *what, *(["--against", bench.kind(against, played)] if played.spec.seats > 1 else [])]

    async def close(self) -> None:
        """Stop the trainers; they save, and can be resumed."""
        for name in self._living():
            self._trainers[name].terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOPPING):
                while self._living():
                    await asyncio.sleep(0.05)


async def finished(words: list[str]) -> JsonObject:
    """Run a command of ludus in a process of its own; the object that it prints."""
    command = [sys.executable, "-m", "ludus.cli", *words]
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=nothing, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        async with asyncio.timeout(PATIENCE):
            out, complaint = await process.communicate()
    except TimeoutError:
        raise Problem(503, "timeout", f"the evaluation took more than {PATIENCE:g} s; play fewer games") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        said = complaint.decode(errors="replace").strip().rpartition("ludus: ")[2][-500:]
        raise Problem(422, "failed", said or "the evaluation has failed")
    found: JsonObject = json.loads(out.splitlines()[-1])
    return found


def facts_of(out: pathlib.Path, run: Summary) -> RunFacts:
    """A run in facts."""
    state = control.state_of(out / run.name) if run.algorithm else control.State("failed", run.game)
    return {
        "name": run.name, "game": run.game, "algorithm": run.algorithm, "status": state.status,
        "problem": state.sentence, "steps": run.steps, "of": run.of, "score": finite(run.score),
        "low": finite(run.low), "high": finite(run.high), "seconds": round(run.seconds, 1),
    }  # fmt: skip


def line_of(run: RunFacts) -> str:
    score = "no score yet" if run["score"] is None else f"score {run['score']:.4g}"
    why = f": {run['problem']}" if run["problem"] else ""
    progress = f"{run['steps']:,} of {run['of']:,} steps"
    return f"{run['name']}: {run['game']} by {run['algorithm']}, {progress}, {score}, {run['status']}{why}"


def metrics_of(folder: pathlib.Path) -> list[dict[str, Any]]:
    """The newest lines of the metrics of a run."""
    path = folder / METRICS
    lines = loggers.read(path) if path.is_file() else []
    return [plain(line) for line in lines[-LISTED:]]
