"""Playing in the terminal with scripted input: moves, hints, undo, mistakes, quitting."""

import pytest

from ludus.evaluation import terminal
from ludus.types import LudusError


class Person:
    """Answers from a list, then ends the input; records all messages."""

    def __init__(self, *answers):
        self.answers, self.messages = list(answers), []

    def ask(self, prompt):
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)

    def play(self, name, against="perfect", seat=0, seed=1):
        return terminal.play(name, against, seat, seed, self.ask, self.messages.append)

    def was_told(self, words):
        return any(words in line for line in self.messages)


def test_a_whole_game_ends_in_a_verdict():
    person = Person(*["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"] * 5)
    result = person.play("tictactoe")
    assert result in (0.0, -1.0)
    assert person.was_told("You lose." if result else "A draw.")


def test_mistakes_are_explained_and_the_question_is_repeated():
    person = Person("z9", "b2", "b2")
    assert person.play("tictactoe") is None
    assert person.was_told('"z9" is not a legal move here')
    assert person.was_told('"b2" is not a legal move here')


def test_hint_follows_the_best_player():
    person = Person("a1", "hint")
    person.play("tictactoe")
    assert person.was_told("the perfect player would play")


def test_undo_takes_back_the_last_move():
    person = Person("undo", "a1", "undo", "a1")
    assert person.play("tictactoe") is None
    assert person.was_told("there is no move to undo yet")
    boards = [line for line in person.messages if line.startswith("1 ")]
    assert boards[0] == boards[1] == boards[3]
    assert "X" in boards[2]


def test_the_second_seat_waits_for_the_first():
    person = Person()
    person.play("connect4", against="random", seat=1)
    assert person.messages[1].startswith("seat 0 plays")


def test_a_solo_game_can_be_played_too():
    person = Person(*["left"] * 100)
    result = person.play("cartpole", against="random")
    assert 5 < result < 30
    assert person.was_told("The game is over; you got")


def test_unplayable_games_raise_an_error():
    with pytest.raises(LudusError, match="cannot be played in the terminal"):
        Person().play("car", against="random")
    with pytest.raises(LudusError, match="there is no seat 5"):
        Person().play("tictactoe", seat=5)


def test_games_of_other_libraries_can_be_played():
    pytest.importorskip("pettingzoo", reason="pip install 'ludus[pettingzoo]'")
    person = Person("4", "undo", "hint")
    assert person.play("pettingzoo:classic/tictactoe-v3", against="random") is None
    assert person.was_told("seat 1 plays")
    assert person.was_told("undo is not available in games of other libraries")
    assert person.was_told("the random player would play")
