"""`ludus profile`: where a training run spends its time."""

from __future__ import annotations

import pathlib

from ludus.cli.application import GameName, app, print_json


@app.command
def profile(
    game: GameName, /, algorithm: str = "ppo", steps: int = 1000, num_envs: int | None = None, top: int = 15,
    out: pathlib.Path = pathlib.Path("profile"), json: bool = False,
) -> None:  # fmt: skip
    """Train for a moment and show where the time goes: act, step, transfer, update, and the longest operations.

    Args:
        game: Name of the game, optionally with parameters: lair(locks=2).
        algorithm: ppo, rllib_ppo, world_model, or another one that declares a profiler.
        steps: Decisions to profile at least, after a first update that compiles.
        num_envs: Number of games at once; by default as in training.
        top: Number of operations to show.
        out: Folder for the trace, which Perfetto and TensorBoard show.
        json: Print one JSON object instead of tables.
    """
    from ludus.bench import profile as profiling
    from ludus.training import config

    run = config.resolve(game, algorithm)
    found = profiling.profile(run if num_envs is None else run.replace(num_envs=num_envs), steps, out)
    if json:
        print_json(profiling.facts(found, top))
    else:
        print("\n".join(profiling.lines(found, top)))
