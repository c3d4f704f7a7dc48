"""The facts of the game, one file a topic: every joker, card, voucher, tag, blind and deck is a line of a table.

Indices are the order of the pools, which real seeds depend on; `key` is the game's own name of a thing.
"""
