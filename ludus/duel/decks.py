"""Decks: the game's own words for them, for tools beside the game."""

from ludus.games.duel.ydk import FOLDER as FOLDER
from ludus.games.duel.ydk import MOST_BYTES as MOST_BYTES
from ludus.games.duel.ydk import Deck as Deck
from ludus.games.duel.ydk import check as check
from ludus.games.duel.ydk import find_deck as find_deck
from ludus.games.duel.ydk import named as named
from ludus.games.duel.ydk import names as names
from ludus.games.duel.ydk import parse_ydk as parse_ydk
from ludus.games.duel.ydk import random_deck as random_deck
from ludus.games.duel.ydk import read_ydk as read_ydk
from ludus.games.duel.ydk import write_ydk as write_ydk
from ludus.games.duel.ydk import ydk_text as ydk_text
