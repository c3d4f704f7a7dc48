"""The conformance suite: what every game promises, asked of any game by `ludus check NAME`.

A check is a function of a trial whose docstring is the rule; it returns a sentence where the rule is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ludus.conformance import handled, hidden, pictured, plain, played
from ludus.conformance.arena import Trial
from ludus.types import LudusError

Check = Callable[[Trial], str]

CHECKS: tuple[Check, ...] = (*handled.CHECKS, *played.CHECKS, *hidden.CHECKS, *pictured.CHECKS, *plain.CHECKS)


class Finding(NamedTuple):
    """What one check found: the rule where it is kept, what is wrong where it is broken."""

    check: str
    passed: bool
    sentence: str


def check_game(name: str) -> list[Finding]:
    """Ask a game everything; one that writes into its neighbours is asked no more, since that may crash the process."""
    try:
        trial = Trial(name)
    except LudusError:
        raise
    except Exception as error:
        return [Finding("rules_compile", False, _told(error))]
    findings = []
    for check in CHECKS:
        findings.append(find(check, trial))
        if check is handled.neighbours_stay_untouched and not findings[-1].passed:
            break
    return findings


def find(check: Check, trial: Trial) -> Finding:
    """Run one check; rules that raise have broken it, whatever it asked."""
    try:
        complaint = check(trial)
    except Exception as error:
        complaint = _told(error)
    return Finding(check.__name__, not complaint, complaint or (check.__doc__ or "").strip())


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()}"


__all__ = ["CHECKS", "Check", "Finding", "Trial", "check_game", "find"]
