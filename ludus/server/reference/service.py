"""Duels of /v0 on top of the engine: which model plays, where duels are stored, and which request repeats another."""

from __future__ import annotations

import secrets
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from ludus.agents import checkpoint, flax_models
from ludus.games import plain_name
from ludus.server.batching import Decided
from ludus.server.model import Loaded, Memory
from ludus.server.problems import Problem
from ludus.server.reference import encodings
from ludus.server.reference.answer import Decide
from ludus.server.reference.duels import ANSWERS, Duel, answered, digest_of, from_bytes
from ludus.server.reference.encodings import Encoding
from ludus.server.reference.problems import RefusedError
from ludus.server.reference.requests import CreateResponse, ErrorResponse, PredictRequest
from ludus.server.service import Service
from ludus.server.sessions import label_of
from ludus.server.stores import Record
from ludus.types import Array, LudusError

GAME = "duel"
FIELDS = {"cards_", "global_", "actions_", "h_actions_"}
TEST_DUEL = "9654823a-23fd-4850-bb-6fec241740b0"
SEAT = 0
"""observations are those of the player; the number of the seat has no meaning here"""
PREFIX, LONGEST_ID = "v0/", 64


@dataclass(frozen=True)
class Settings:
    """What /v0 serves."""

    model: str = ""
    """the model that plays; empty for the first one of the game duel"""
    code_list: str = ""
    """a file with the codes of the known cards; empty for those of the model"""
    test_duel: str = TEST_DUEL
    """the id of a duel that always exists, as in the reference; empty for none"""


class Duels:
    """The duels of one server."""

    def __init__(self, service: Service, settings: Settings) -> None:
        self._service, self._settings = service, settings
        self._codes = encodings.read_code_list(settings.code_list) if settings.code_list else None
        self._encodings: dict[str, Encoding] = {}

    def check(self) -> None:
        """Raise LudusError if no model can be served; to be called when the service has started."""
        try:
            self._encoding(self._model(""))
        except Problem as problem:
            raise LudusError(problem.detail) from None

    async def create(self, model: str = "") -> bytes:
        """A new duel, with a model by name or the default one."""
        number, duel = str(uuid.uuid4()), self._new(model, secrets.randbits(32))
        await self._store(number, duel, None)
        return ANSWERS.encode(CreateResponse(number, duel.index))

    async def delete(self, id: str) -> None:
        """Forget a duel; nothing happens if there is none."""
        if len(id) <= LONGEST_ID:
            await self._service.store.delete(PREFIX + id)

    async def predict(self, id: str, request: PredictRequest) -> bytes:
        """The answer to a request; the same request again gets the same answer."""
        duel, is_new = await self._load(id)
        if duel is None:
            return _error(f"duel {id} not found")
        if request.index != duel.index:
            return _repeated(duel, request)
        try:
            after, _ = await answered(duel, request, self._encodings_by_name(duel.model), self._decide(duel))
        except RefusedError as refused:
            return _error(str(refused))
        except Problem as problem:
            if problem.status in (404, 410):  # the model or its version is gone; errors of a duel have status 200
                return _error(problem.detail)
            raise
        if await self._store(id, after, None if is_new else duel.index):
            return after.answer
        latest, _ = await self._load(id)
        return _repeated(latest, request) if latest else _error(f"duel {id} not found")

    def _model(self, name: str) -> Loaded:
        """The model of this name, or the default one."""
        if not self._service.ready:
            raise Problem(503, "not_ready", "the server is starting or stopping; try again", retry_after=1)
        name = name or self._settings.model
        models = self._service.models
        if name and name not in models:
            raise Problem(404, "model_not_found", f'there is no model "{name}"; GET /v1/models lists all')
        found = [one for one in ([models[name]] if name else models.values()) if is_duel(one)]
        if not found:
            what = f'"{name}" plays {models[name].game}' if name else "no model of the game duel is served"
            raise Problem(404, "model_not_found", f"{what}; /v0 needs an agent of the game {GAME}")
        return found[0]

    def _encoding(self, model: Loaded) -> Encoding:
        if model.name not in self._encodings:
            self._encodings[model.name] = encoding_of(model, self._codes)
        return self._encodings[model.name]

    def _encodings_by_name(self, name: str) -> Encoding:
        return self._encodings[name] if name in self._encodings else self._encoding(self._model(name))

    def _new(self, model: str, seed: int) -> Duel:
        chosen = self._model(model)
        self._encoding(chosen)
        return Duel(chosen.name, chosen.version, chosen.memory_row(), seed)

    async def _load(self, id: str) -> tuple[Duel | None, bool]:
        """The duel of this id, and whether it is not stored yet, as the test duel before its first request."""
        record = await self._service.store.get(PREFIX + id) if len(id) <= LONGEST_ID else None
        if record is not None:
            try:
                return from_bytes(record.data), False
            except msgspec.DecodeError:
                return None, False  # written by another version of Ludus
        if id and id == self._settings.test_duel:
            return self._new("", zlib.crc32(id.encode())), True
        return None, False

    async def _store(self, id: str, duel: Duel, expected: int | None) -> bool:
        record = Record(duel.index, duel.to_bytes(), label_of(duel.model, duel.version))
        return await self._service.store.put(PREFIX + id, record, expected)

    def _decide(self, duel: Duel) -> Decide:
        """Decisions for a duel, in batches with those of other duels."""

        async def decide(memory: Memory, seen: Mapping[str, Array], mask: Array, first: bool) -> Decided:
            seed = (duel.seed + duel.index) % 2**32
            return await self._service.decide(duel.model, duel.version, memory, seen, mask, SEAT, first, seed)

        return decide


def is_duel(model: Loaded) -> bool:
    """Whether a model plays duels."""
    return (
        plain_name(model.game) == GAME and model.acts_on_observations and set(model.observation.names or ()) >= FIELDS
    )


def encoding_of(model: Loaded, codes: list[int] | None) -> Encoding:
    """What the model was trained to see.

    An agent of Ludus also accepts the cards of `--code-list`; a model of the reference project, only those of its own
    that are in the list.
    """
    if not is_imported(model):
        return encodings.own(codes or ())
    known = _codes_of(model)
    if codes is not None and known.isdisjoint(codes):
        raise LudusError(
            f"{model.name} knows none of the cards in the code list; give the list that it was trained with"
        )
    return encodings.reference(known if codes is None else known & set(codes))


def is_imported(model: Loaded) -> bool:
    """Whether a model is one of the reference project (`ludus import`)."""
    network = getattr(model.agent, "network", None)
    return bool(getattr(getattr(network, "args", None), "reference", False))


def _codes_of(model: Loaded) -> frozenset[int]:
    """The codes of the cards that an imported model has embeddings of."""
    assert model.path is not None
    stored = checkpoint.load(model.path).arrays["params"]
    return frozenset(stored[flax_models.CODES].tolist())


def _repeated(duel: Duel, request: PredictRequest) -> bytes:
    """The last answer for the last request, or an error for any other with a wrong index."""
    if request.index == duel.index - 1 and duel.answer and digest_of(request) == duel.digest:
        return duel.answer
    return _error(f"index mismatch: expected {duel.index}, got {request.index}")


def _error(text: str) -> bytes:
    return ANSWERS.encode(ErrorResponse(text))
