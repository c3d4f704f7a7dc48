"""Learning methods: each module has a part `backup`, called once the outcome of an action is known.

`desk.place`, `desk.action`: the row and the action that is learned from. `reward`: the reward since then. `place`: the
row of the next position, -1 if there is none (the game has ended). `action`: the action chosen there, -1 if the game
was truncated. `best`: the highest value there, or with EXPECTED = True the expected value under the policy. `sign`: -1
if the opponent is to move there, else 1. `ended`: the game has terminated or was truncated. `bits`: 64 random bits.

A method may also define EXTRA, fields that rows have for each action besides the value; DESK, fields that a desk keeps
between steps, with PLACES, the names of those that hold row indices; and MEMORY(actions), the fields of a record for
each row (`b.memory`). Such records cannot be merged, so a method with MEMORY runs in one worker.
"""
