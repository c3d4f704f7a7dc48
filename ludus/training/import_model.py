"""Run folders of models that another project has trained."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
from typing import NamedTuple

from ludus.agents import checkpoint, flax_models
from ludus.agents.checkpoint import Checkpoint
from ludus.agents.neural.agent import describe
from ludus.bridges import identity_of, open_pool
from ludus.bridges.ygopro.settings import card_numbers
from ludus.training import config
from ludus.training.folder import CHECKPOINTS, new_folder, write_settings
from ludus.types import LudusError

GAME = "duel"


class Imported(NamedTuple):
    """The folder of an imported model."""

    folder: pathlib.Path
    parameters: int
    """number of parameters"""
    cards: int
    """number of cards with a row of embeddings"""
    playable: int
    """number of these cards that our own duel has"""


def import_model(
    model: pathlib.Path,
    out: pathlib.Path,
    code_list: pathlib.Path | None = None,
    embeddings: pathlib.Path | None = None,
) -> Imported:
    """Make a run folder with one checkpoint of a .flax_model file; see docs/agents.md."""
    arrays = flax_models.read(model)
    codes = flax_models.read_codes(code_list) if code_list else ()
    args = flax_models.arguments(arrays)
    if embeddings is not None:
        table = flax_models.read_embeddings(embeddings, codes)
        arrays, codes = flax_models.with_embeddings(arrays, table), table.codes
    if not codes:
        raise LudusError(
            "the file does not say which card has which id; give the list that the model was trained with: "
            "--code-list FILE, with one card code per line"
        )
    args, params = flax_models.stored(arrays, codes)
    origin = {"kind": "import", "file": model.name, "sha256": hashlib.sha256(model.read_bytes()).hexdigest()}
    pool = open_pool(GAME, 1, 0, threads=1)
    try:
        manifest = checkpoint.describe(identity_of(pool), describe(args, False, False), origin)
    finally:
        pool.close()
    run = config.from_dict(
        {"game": GAME, "algorithm": "ppo", "agent": "rnn", "model": dataclasses.asdict(args)}, "this model"
    )
    folder = new_folder(out, GAME)
    write_settings(folder, run)
    checkpoint.save(folder / CHECKPOINTS, 0, Checkpoint(manifest, {"params": params}))
    playable = len(card_numbers(GAME).keys() & set(codes))
    return Imported(folder, sum(array.size for array in arrays.values()), len(codes), playable)
