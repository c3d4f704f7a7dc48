"""Tools for Balatro: score a hand, and list what a seed contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NotRequired

from mcp_types import CallToolResult
from pydantic import Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from ludus.games.balatro.tools import reports, scores, seeds, situations
from ludus.server.games import Games
from ludus.server.mcp.answers import answered, plain
from ludus.server.mcp.schemas import Report
from ludus.types import JsonObject, LudusError

Card = Annotated[str, Field(min_length=2, max_length=60)]
Count = Annotated[StrictInt, Field(ge=0, le=10_000)]
ByHand = Annotated[dict[str, Count], Field(max_length=12)]
MOST_ANTES = 16


class Joker(TypedDict):
    """A joker that the player owns."""

    joker: Annotated[str, Field(min_length=1, max_length=60)]
    """its key, with an edition: "j_blueprint foil" """
    sell: NotRequired[Annotated[StrictInt, Field(ge=0, le=10_000)]]
    state: NotRequired[Annotated[dict[str, Annotated[StrictInt | float | str, Field()]], Field(max_length=8)]]
    """what it has gathered: {"mult": 12}, {"chips": 40}, {"xmult": 2.5}"""


@dataclass
class BalatroTools:
    """Tools that need no game session."""

    games: Games

    async def score_hand(
        self, play: Annotated[list[Card], Field(min_length=1, max_length=5)],
        held: Annotated[list[Card], Field(max_length=20)] | None = None,
        jokers: Annotated[list[Joker | Card], Field(max_length=15)] | None = None,
        levels: ByHand | None = None, plays: ByHand | None = None, blind: Card = "bl_small",
        deck: Annotated[str, Field(max_length=20)] = "red",
        money: Annotated[StrictInt, Field(ge=-1000, le=100_000)] = 4,
        hands_left: Annotated[StrictInt, Field(ge=0, le=100)] = 3,
        discards_left: Annotated[StrictInt, Field(ge=0, le=100)] = 3, first_hand: StrictBool = False,
        rolls: Annotated[dict[str, Annotated[StrictInt, Field(ge=0, le=23)]], Field(max_length=9)] | None = None,
    ) -> Annotated[CallToolResult, Report]:  # fmt: skip
        """Score a hand of Balatro step by step, by the rules of the real game.

        Cards are written "KH", "10S" or "QC steel foil red-seal"; jokers "j_blueprint" or "j_baron poly", from left to
        right. `levels` and `plays` give the level of poker hands and how often they were played: {"Flush": 4}.
        `hands_left` is counted after this hand. `rolls` says which chances succeed, such as {"lucky_mult": 1}.
        """
        owned = [{"joker": one} if isinstance(one, str) else dict(one) for one in jokers or ()]
        situation = situations.situation(
            play, held or (), owned, levels, plays, blind, deck, money, hands_left, discards_left, first_hand, rolls
        )
        return await self.games.look(scored, situation)

    async def inspect_seed(
        self, seed: Annotated[str, Field(min_length=1, max_length=8)],
        antes: Annotated[StrictInt, Field(ge=1, le=MOST_ANTES)] = 4, deck: Annotated[str, Field(max_length=20)] = "red",
        stake: Annotated[str, Field(max_length=20)] = "white",
    ) -> Annotated[CallToolResult, Report]:  # fmt: skip
        """List what a seed of Balatro contains: bosses, vouchers, tags, shops and packs of each ante."""
        if not (seed + deck + stake).isalnum():
            raise LudusError("a seed, a deck and a stake are written with letters and digits only, like 7LB2WVPK")
        found = await self.games.look(seeds.entry, seed.upper(), antes, deck, stake)
        return answered(reports.seed(found), {"facts": plain(found)})


def scored(situation: JsonObject) -> CallToolResult:
    """The score with its steps; blocking."""
    result = scores.score([situation])[0]
    found = [] if result["refused"] else scores.steps(situation)
    facts = {**result, "steps": found}
    return answered(reports.score(situation, result, found), {"facts": plain(facts)})
