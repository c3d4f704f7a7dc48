"""The duel in the real engine, for all cards there are: `duel@ygopro(core=…, cards=…, scripts=…, deck1=…, deck2=…)`.

Nothing of that engine comes with Ludus; docs/ygopro.md tells what the user brings. `native` and `node` are the two ways
to run it. The core speaks bytes. For people, replays and other engines `messages` reads questions, `answers` writes
responses, `queries` reads positions, and `lockstep` holds another engine against it. For agents, compiled rules:
`looking` tells what must be asked of the core, `asking` and `seeing` read and show it, `driving` calls a library.
`choices` takes questions apart that want more than one pick.
"""
