"""`ludus evaluate duel@ygopro(…) --agent NAME`: agents play duels in the core; agents that copy games are rejected."""

import json

import pytest
from real_cores import needs_wasm, normal_monsters, plain_deck, write_cdb, write_ydk

from ludus.cli import run
from ludus.types import LudusError


@pytest.fixture
def game(tmp_path):
    needs_wasm()
    cards = write_cdb(tmp_path / "cards.cdb", normal_monsters())
    one, two = write_ydk(tmp_path / "one.ydk", plain_deck()), write_ydk(tmp_path / "two.ydk", plain_deck(9))
    return f"duel@ygopro(core=wasm, cards={cards}, deck1={one}, deck2={two})"


def test_an_agent_plays_duels_in_the_core(game, capsys):
    run(["evaluate", game, "--agent", "greedy", "--games", "6", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (result["game"], result["against"], result["games"]) == (game, "random", 6)
    assert result["wins"] >= 5


def test_search_agents_are_rejected(game):
    with pytest.raises(LudusError, match="cannot be copied, so it cannot be searched; choose an agent without mcts"):
        run(["evaluate", game, "--agent", "mcts(20)", "--games", "2"])
