"""The conformance suite: rules that every game must satisfy, checked by `ludus check NAME`.

A check is a function of a trial. Its docstring states the rule; it returns a message if the rule is broken, else "".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ludus import games
from ludus.evaluation.conformance import hidden_information, picture_checks, plain_python, play_checks, pool_checks
from ludus.evaluation.conformance.trials import Trial
from ludus.types import LudusError

Check = Callable[[Trial], str]

CHECKS: tuple[Check, ...] = (
    *pool_checks.CHECKS,
    *play_checks.CHECKS,
    *hidden_information.CHECKS,
    *picture_checks.CHECKS,
    *plain_python.CHECKS,
)


class Finding(NamedTuple):
    """The result of one check; `sentence` is the rule if it passed, else the error."""

    check: str
    passed: bool
    sentence: str


def check_game(name: str) -> list[Finding]:
    """Run all checks; stop if a game writes outside its memory, since that may crash the process."""
    games.load(name)  # an unknown game raises and is not a finding
    try:
        trial = Trial(name)
    except Exception as error:
        return [Finding("rules_compile", False, _message(error))]
    findings = []
    for check in CHECKS:
        findings.append(find(check, trial))
        if check is pool_checks.neighbours_stay_untouched and not findings[-1].passed:
            break
    return findings


def find(check: Check, trial: Trial) -> Finding:
    """Run one check; a check also fails if the rules of the game raise an exception."""
    try:
        complaint = check(trial)
    except Exception as error:
        complaint = _message(error)
    return Finding(check.__name__, not complaint, complaint or (check.__doc__ or "").strip())


def _message(error: Exception) -> str:
    return str(error) if isinstance(error, LudusError) else f"{type(error).__name__}: {str(error).strip()}"


__all__ = ["CHECKS", "Check", "Finding", "Trial", "check_game", "find"]
