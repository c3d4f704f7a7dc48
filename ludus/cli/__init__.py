"""The `ludus` command: parse arguments, call the package, print the result."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ludus.types import LudusError


def main() -> None:
    """Run the command line; print LudusErrors without a traceback unless --traceback is given."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--traceback"]
    try:
        run(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
    except Exception as error:
        message = error if isinstance(error, LudusError) else _error_in_game(error)
        if message is None or "--traceback" in sys.argv:
            raise
        print(f"ludus: {message}", file=sys.stderr)
        sys.exit(2)


def _error_in_game(error: Exception) -> LudusError | None:
    from ludus import games

    return games.mistake(error)


def run(arguments: list[str]) -> None:
    """Run the command given by these arguments."""
    from ludus.cli import (
        analyse,
        balatro,
        battle,
        bench,
        doctor,
        duel,
        export,
        import_weights,
        mcp,
        profile,
        runs,
        serve,
        studio,
        train,
    )
    from ludus.cli import games as playing
    from ludus.cli.application import app
    from ludus.cli.arguments import value_of
    from ludus.cli.runtimes import with_settings

    # Importing these modules registers their commands.
    assert (
        analyse
        and balatro
        and battle
        and bench
        and doctor
        and duel
        and export
        and import_weights
        and mcp
        and playing
        and profile
        and runs
        and serve
        and studio
        and train
    )
    # The flags of `train` depend on the algorithm, and those of others on the runtime.
    name, rest = "".join(arguments[:1]), arguments[1:]
    spreading: dict[str, Callable[..., None]] = {"battle": battle.battle, "evaluate": runs.evaluate}
    if name == "train":
        train.train(rest)
    elif name in spreading and value_of("--runtime", rest) is not None:
        with_settings(spreading[name], rest)
    else:
        app.cli(prog="ludus", args=arguments)
