"""`ludus …`: parse, call, print. No logic lives here."""

from __future__ import annotations

import sys

from ludus.types import LudusError


def main() -> None:
    """Errors that the user can mend are one sentence; --traceback shows the rest."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--traceback"]
    try:
        run(arguments)
    except LudusError as error:
        if "--traceback" in sys.argv:
            raise
        print(f"ludus: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()


def run(arguments: list[str]) -> None:
    """Carry out a command line."""
    from ludus.cli import balatro, battling, duel, measuring, playing, studio, training, viewing
    from ludus.cli.application import app

    # Importing them is what makes their commands known.
    assert balatro and battling and duel and measuring and playing and studio and training and viewing
    # The flags of `train` depend on the algorithm, so it reads its own.
    if arguments[:1] == ["train"]:
        training.train(arguments[1:])
    else:
        app.cli(prog="ludus", args=arguments)
