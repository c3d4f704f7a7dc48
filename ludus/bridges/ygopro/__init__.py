"""The duel in the real engine, for all cards there are: `duel@ygopro(core=…, cards=…, scripts=…, deck1=…, deck2=…)`.

Nothing of that engine comes with Ludus; docs/ygopro.md tells what the user brings. The core speaks bytes: `messages`
reads its questions, `answers` writes responses, `queries` reads positions; `choices` takes a question apart into single
options, `observing` writes what a player sees. `native` and `node` are the two ways to run it, `lockstep` holds another
engine against it.
"""
