"""`ludus import`: models of the reference project, and checkpoints of RLlib."""

from __future__ import annotations

import pathlib
from typing import Annotated

import tyro

from ludus.cli.application import app, print_json


@app.command(name="import")
def import_weights(
    model: Annotated[pathlib.Path, tyro.conf.Positional, tyro.conf.arg(metavar="MODEL")],
    /,
    code_list: pathlib.Path | None = None,
    embeddings: pathlib.Path | None = None,
    out: pathlib.Path = pathlib.Path("runs"),
    json: bool = False,
) -> None:
    """Make a run folder of a model that another program has trained, which then plays like any run.

    Args:
        model: A .flax_model file, in which the reference project has written its parameters for duels; or the folder of
            a checkpoint that RLlib has written with BalatroCheckpointCallback.
        code_list: The list of cards that the model was trained with: one card code per line, the line is its id.
        embeddings: Table of card embeddings to use instead of the model's: .npz with codes and embeddings.
        out: Folder for the run.
        json: Print one JSON object instead of text.
    """
    if model.is_dir():
        _import_rllib(model, out, json)
        return
    from ludus.training.import_model import import_model

    made = import_model(model, out, code_list, embeddings)
    if json:
        print_json({**made._asdict(), "folder": str(made.folder)})
        return
    print(f"{made.folder}: {made.parameters:,} parameters, {made.cards:,} cards ({made.playable:,} of them in duel)")
    print(f"play against it: ludus play duel --against {made.folder}")


def _import_rllib(model: pathlib.Path, out: pathlib.Path, json: bool) -> None:
    from ludus.training.import_rllib import import_rllib

    made = import_rllib(model, out)
    if json:
        print_json({**made._asdict(), "folder": str(made.folder)})
        return
    print(f"{made.folder}: {made.parameters:,} parameters after {made.games_played:,} games, reward {made.reward:.4g}")
    print(f"watch it: ludus show balatro --agent {made.folder}")
