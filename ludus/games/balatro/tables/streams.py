"""The names of the random streams: every draw of the original game names a stream, and all streams are independent.

`@` stands for the number of the ante; such streams start anew in each ante. A draw from a pool that hits an unavailable
entry is repeated on the same name with the suffix `_resample2`, `_resample3`, …
"""

import numpy as np

APPENDS_OF_JOKERS = (
    *(f"{rarity}{source}" for source in ("sho", "buf", "jud") for rarity in (1, 2, 3)),
    "1rif", "1top", "3wra", "3rta", "2uta",
)  # fmt: skip
"""rarity and source: shop, Buffoon pack, Judgement, Riff-raff, Top-up, Wraith, Rare and Uncommon Tag"""

OF_THE_RUN = (
    "boss", "Voucher_fromtag", "Joker4", "omen_globe", "illusion", "shuffle", "to_do", "orbital", "lucky_mult",
    "lucky_money", "glass", "wheel_of_fortune", "8ball", "business", "bloodstone", "parking", "space", "gros_michel",
    "cavendish", "wheel", "misprint", "hook", "cerulean_bell", "crimson_heart", "aajk", "madness", "invisible",
    "perkeo", "cert_fr", "certsl", "marb_fr", "ankh_choice", "hex", "ectoplasm", "aura", "sigil", "ouija",
    "random_destroy", "familiar_create", "grim_create", "incantation_create", "spe_card", "immolate", "erratic",
)  # fmt: skip
OF_AN_ANTE = (
    "Voucher@", "Tag@", "cdt@", "shop_pack@", "nr@", "cashout@", "idol@", "mail@", "anc@", "cas@", "halu@",
    "rarity@sho", "rarity@buf", "rarity@jud", "rarity@sou", *(f"Joker{append}@" for append in APPENDS_OF_JOKERS),
    *(f"edi{source}@" for source in ("sho", "buf", "jud", "rif", "top", "wra", "rta", "uta", "sou")),
    "etperpoll@", "packetper@", "ssjr@", "packssjr@", "soul_Tarot@", "soul_Planet@", "soul_Spectral@",
    *(f"Tarot{source}@" for source in ("sho", "ar1", "emp", "8ba", "hal", "car", "vag", "sup")),
    *(f"Planet{source}@" for source in ("sho", "pl1", "pri")),
    *(f"Spectral{source}@" for source in ("sho", "spe", "ar2", "sixth", "sea")),
    "Enhancedsho@", "Enhancedsta@", "frontsho@", "frontsta@", "stdset@", "standard_edition@", "stdseal@",
    "stdsealtype@",
)  # fmt: skip

NAMES = (*OF_THE_RUN, *OF_AN_ANTE)
STREAMS, FIRST_OF_ANTE = len(NAMES), len(OF_THE_RUN)
LONGEST = max(map(len, NAMES))
LETTERS = np.array([list(name.encode().ljust(LONGEST, b"\0")) for name in NAMES], np.uint8)
ANTE_MARK = ord("@")


def stream(name: str) -> int:
    """The number of a stream by its name."""
    return NAMES.index(name)


AT_FIRST = ("Voucher@", "Tag@", "Voucher@", "Tag@", "boss", "orbital", "nr@", "idol@", "mail@", "anc@", "cas@")
"""streams that every run draws from at its start; the first REPEATED ones are second tries (`_resample2`)"""
REPEATED = 2
FIRST_STREAMS = np.array([stream(name) for name in AT_FIRST], np.int64)
_AS_WRITTEN = [
    name.replace("@", "1") + ("_resample2" if index < REPEATED else "") for index, name in enumerate(AT_FIRST)
]
LENGTHS_AT_FIRST = np.array([len(name) for name in _AS_WRITTEN], np.int64)
NAMES_AT_FIRST = np.array([list(name.encode().ljust(max(LENGTHS_AT_FIRST), b"\0")) for name in _AS_WRITTEN], np.int64)
