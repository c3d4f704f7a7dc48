"""The duel in the YGOPro engine, with all cards: `duel@ygopro(core=…, cards=…, scripts=…, deck1=…, deck2=…)`.

Ludus includes no part of that engine; docs/ygopro.md describes what the user must provide. `native` and `node` are the
two ways to run the core, which communicates in bytes. For people, replays and other engines, `messages` reads
questions, `answers` writes responses, `queries` reads positions, and `lockstep` compares another engine with it.
For agents the same work is compiled: `stale_zones` finds what to query, `compiled_messages` and `card_table` read and
show it, `compiled_driver` calls the library. `choices` splits questions that need more than one pick.
"""
