"""What is learned from a step: each method a part `backup` with its equation, called when an action can be judged.

`desk.place`, `desk.action`: what is judged. `reward`: what it brought. `place`: the row that follows, -1 where none
does (the game has ended). `action`: what is chosen there, -1 after a cut-off. `best`: the highest value there
(with EXPECTED = True what the policy gets there on average). `sign`: -1 where the opponent is to move there, else 1.
`ended`: the game is over or cut off. `bits`: 64 random bits.

A method may also offer EXTRA, fields that rows hold beside each value; DESK, fields that a desk keeps between steps,
with PLACES, those of them that hold places; and MEMORY(actions), the fields of a record beside each row (`b.memory`),
which cannot be merged, so such a method learns in one worker.
"""
