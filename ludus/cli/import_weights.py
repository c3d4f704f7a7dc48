"""`ludus import`: models of the reference project."""

from __future__ import annotations

import pathlib
from typing import Annotated

import tyro

from ludus.cli.application import app, print_json


@app.command(name="import")
def import_weights(
    model: Annotated[pathlib.Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL.flax_model")],
    /,
    code_list: pathlib.Path | None = None,
    embeddings: pathlib.Path | None = None,
    out: pathlib.Path = pathlib.Path("runs"),
    json: bool = False,
) -> None:
    """Make a run folder of a model of the reference project, which then plays duels like any run.

    Args:
        model: File of parameters that the reference project has written.
        code_list: The list of cards that the model was trained with: one card code per line, the line is its id.
        embeddings: Table of card embeddings to use instead of the model's: .npz with codes and embeddings.
        out: Folder for the run.
        json: Print one JSON object instead of text.
    """
    from ludus.training.import_model import import_model

    made = import_model(model, out, code_list, embeddings)
    if json:
        print_json({**made._asdict(), "folder": str(made.folder)})
        return
    print(f"{made.folder}: {made.parameters:,} parameters, {made.cards:,} cards ({made.playable:,} of them in duel)")
    print(f"play against it: ludus play duel --against {made.folder}")
