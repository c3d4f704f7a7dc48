"""Every game that discovery finds, and some with other parameters, pass every check of the conformance suite."""

import functools

import pytest

from ludus import games
from ludus.evaluation import conformance

VARIANTS = ("car(obstacles=0, track=7)", "car(width=25, horizon=50)", "car(obstacles=10)", "cartpole(horizon=30)")


@functools.cache
def trial(name: str) -> conformance.Trial:
    return conformance.Trial(name)


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [*games.names(), *VARIANTS])
def test_game_passes_the_check(name, check):
    finding = conformance.find(check, trial(name))
    assert finding.passed, finding.sentence


def test_every_check_states_its_rule_in_one_line():
    for check in conformance.CHECKS:
        assert check.__doc__ and "\n" not in check.__doc__.strip(), check.__name__


def test_findings_state_the_rule_or_the_error(monkeypatch):
    def complain(trial):
        """All is well."""
        return "it is not"

    def agree(trial):
        """All is well."""
        return ""

    def fail(trial):
        """All is well."""
        raise IndexError("index 9 is out of bounds")

    monkeypatch.setattr(conformance, "CHECKS", (complain, agree, fail))
    assert conformance.check_game("tictactoe") == [
        ("complain", False, "it is not"),
        ("agree", True, "All is well."),
        ("fail", False, "IndexError: index 9 is out of bounds"),
    ]
