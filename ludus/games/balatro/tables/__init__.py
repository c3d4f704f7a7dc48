"""The data of the game, one file per topic: every joker, card, voucher, tag, blind and deck is a row of a table.

The order of rows is that of the original's pools, on which seeds depend; `key` is the original's internal name.
The comment "one source" marks details confirmed by a single source.
"""
