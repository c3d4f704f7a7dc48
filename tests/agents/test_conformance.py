"""Every agent of every game implements the agent protocol. A check is a function of a `Trial`."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pytest

from ludus import agents, games
from ludus.agents import Agent, PoolAgent
from ludus.agents.player import Player, merged
from ludus.agents.players.person import Person
from ludus.agents.search import lookahead
from ludus.bridges import AnyPool
from ludus.dsl import PLAYING
from ludus.pool import Pool
from ludus.types import Continuous, Discrete, Step

ROWS, STEPS = 2, 4
SEARCH, LOOKAHEAD = "mcts(4)", "lookahead(2)"


def kinds_of(name: str) -> list[str]:
    """Every agent that needs no run: written by hand, trained ones that come with ludus, and search."""
    search = [SEARCH] if isinstance(games.load(name).spec.actions, Discrete) else []
    ahead = [LOOKAHEAD] if lookahead.fits(name) else []
    return [*agents.kinds_for(name), *agents.shipped_kinds(name), *search, *ahead]


PAIRS = [(name, kind) for name in games.bundled() for kind in kinds_of(name)]


class Trial(NamedTuple):
    """An agent and a new pool of its game."""

    agent: Agent
    """as it was loaded"""
    pool: AnyPool
    at: Agent
    """for the games of the pool"""
    params: object


@functools.cache
def loaded(name: str, kind: str) -> Agent:
    return first_legal() if kind == "person" else agents.load(kind, name)


def first_legal() -> Person:
    """A person who always plays the first legal move."""
    return Person(lambda pool: int(pool.step.mask[0].argmax()))


@pytest.fixture
def trial(request):
    name, kind = request.param
    pool = Pool(name, 1 if kind == "person" else ROWS, 3, threads=1)
    agent = loaded(name, kind)
    at = agents.seated(agent, pool)
    yield Trial(agent, pool, at, at.init(pool.spec, 0))
    pool.close()


def new_memory(trial: Trial):
    return trial.at.memory(len(trial.pool.step.seat))


def act(trial: Trial, memory, key: int):
    return trial.at.act(trial.params, memory, trial.pool.step, key)


def is_curious(agent: Agent) -> bool:
    """Whether a trained network has an additional value for intrinsic rewards."""
    return getattr(getattr(agent, "agent", agent), "curious", False)


def bytes_of(step: Step) -> list[bytes]:
    return [np.asarray(array).tobytes() for array in (*step.observation.values(), *step[1:])]


def it_implements_the_protocol(trial: Trial) -> None:
    """An agent is an instance of the protocol, frozen and hashable, so that it can be a static argument of jit."""
    for agent in (trial.agent, trial.at):
        assert isinstance(agent, Agent) and isinstance(hash(agent), int)
        with pytest.raises(dataclasses.FrozenInstanceError):
            agent.something = 1
    assert isinstance(trial.agent, PoolAgent) or trial.at is trial.agent


def it_plays_legally(trial: Trial) -> None:
    """Actions are legal in every row, and decisions have the shapes of the protocol."""
    memory, pool = new_memory(trial), trial.pool
    rows, seats = pool.step.reward.shape
    for turn in range(STEPS):
        decision, memory = act(trial, memory, turn)
        assert np.shape(decision.log_prob) == (rows,)
        assert np.shape(decision.value) == (rows, seats + is_curious(trial.agent))
        assert np.isfinite(decision.value).all()
        pool.advance(decision.action)  # an illegal one raises


def one_key_gives_one_decision(trial: Trial) -> None:
    """The same parameters, memory, step and key give the same decision."""
    (one, _), (other, _) = act(trial, new_memory(trial), 9), act(trial, new_memory(trial), 9)
    assert all(np.array_equal(*pair) for pair in zip(one, other, strict=True))


def it_changes_nothing(trial: Trial) -> None:
    """Deciding changes neither the step nor the games."""
    step, before, games_before = trial.pool.step, bytes_of(trial.pool.step), trial.pool.save()
    act(trial, new_memory(trial), 1)
    assert bytes_of(step) == before
    assert all(np.array_equal(*pair) for pair in zip(trial.pool.save(), games_before, strict=True))


def its_memory_has_a_row_for_each_row(trial: Trial) -> None:
    """Memory can be kept row by row: only the rows in which it played change."""
    memory = new_memory(trial)
    _, after = act(trial, memory, 1)
    merged(np.arange(len(trial.pool.step.seat)) == 0, after, memory)  # memory of another shape raises


def rows_without_a_decision_are_skipped(trial: Trial) -> None:
    """In rows with discount 0 any action of the right shape is accepted."""
    step = trial.pool.step._replace(discount=np.zeros_like(trial.pool.step.discount))
    decision, _ = trial.at.act(trial.params, new_memory(trial), step, 2)
    continuous = isinstance(trial.pool.spec.actions, Continuous)
    expected = (*step.seat.shape, len(trial.pool.spec.actions.low)) if continuous else step.seat.shape
    assert np.shape(decision.action) == expected


def each_row_may_have_its_own_key(trial: Trial) -> None:
    """With one key for each row, the decision of a row does not depend on the keys of others."""
    rows = len(trial.pool.step.seat)
    keys = np.arange(rows, dtype=np.uint64) + 2**40
    (one, _), (other, _) = (
        act(trial, new_memory(trial), chosen) for chosen in (keys, keys + (np.arange(rows) > 0).astype(np.uint64))
    )
    assert np.array_equal(np.asarray(one.action)[0], np.asarray(other.action)[0])
    assert len(one.action) == rows


def it_can_be_a_player(trial: Trial) -> None:
    """The agent can be wrapped in a `Player`, with its own memory and random numbers."""
    pool, player = trial.pool, Player("it", trial.agent, trial.params, trial.pool, 5)
    for _ in range(STEPS):
        player.notice(pool.step)
        own = np.repeat(pool.status == PLAYING, pool.spec.views)
        pool.advance(player.act(pool.step, own).action)


CHECKS = (
    it_implements_the_protocol, it_plays_legally, one_key_gives_one_decision, it_changes_nothing,
    its_memory_has_a_row_for_each_row, rows_without_a_decision_are_skipped, each_row_may_have_its_own_key,
    it_can_be_a_player,
)  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("trial", [*PAIRS, ("tictactoe", "person")], indirect=True, ids="-".join)
def test_agent_implements_the_protocol(trial, check):
    check(trial)


def test_every_kind_is_tested():
    kinds = {kind for _, kind in PAIRS}
    assert kinds == {*agents.KINDS, *agents.TRAINED, SEARCH, LOOKAHEAD}
