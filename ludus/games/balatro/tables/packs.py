"""Booster packs: contents, number of cards shown, number to choose, and how often they are offered."""

import numpy as np

ARCANA, CELESTIAL, STANDARD, BUFFOON, SPECTRAL = range(5)
KINDS, SIZES = ("Arcana", "Celestial", "Standard", "Buffoon", "Spectral"), ("normal", "jumbo", "mega")

#    kind                 price shown choose weight (of all its pictures)
ROWS = (
    ("Arcana normal",     4, 3, 1, 4.0),
    ("Arcana jumbo",      6, 5, 1, 2.0),
    ("Arcana mega",       8, 5, 2, 0.5),
    ("Celestial normal",  4, 3, 1, 4.0),
    ("Celestial jumbo",   6, 5, 1, 2.0),
    ("Celestial mega",    8, 5, 2, 0.5),
    ("Standard normal",   4, 3, 1, 4.0),
    ("Standard jumbo",    6, 5, 1, 2.0),
    ("Standard mega",     8, 5, 2, 0.5),
    ("Buffoon normal",    4, 2, 1, 1.2),
    ("Buffoon jumbo",     6, 4, 1, 0.6),
    ("Buffoon mega",      8, 4, 2, 0.15),
    ("Spectral normal",   4, 2, 1, 0.6),
    ("Spectral jumbo",    6, 4, 1, 0.3),
    ("Spectral mega",     8, 4, 2, 0.07),
)  # fmt: skip
NAMES = tuple(row[0] for row in ROWS)
PACKS, FIRST_PACK = len(ROWS), NAMES.index("Buffoon normal")
"""FIRST_PACK is the first pack of every run"""
PRICE, SHOWN, CHOOSE = (np.array([row[column] for row in ROWS], np.int64) for column in range(1, 4))
VARIANTS = np.array([[4, 2, 2], [4, 2, 2], [4, 2, 2], [2, 1, 1], [2, 1, 1]]).ravel()
WEIGHT = np.array([row[4] for row in ROWS])
EACH, TOTAL_WEIGHT = WEIGHT / VARIANTS, 22.42
"""weight of one picture; a draw adds up the weights picture by picture, since float sums depend on the order"""
