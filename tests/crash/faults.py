"""Fault injection: the places that a run reaches are numbered, and one of them gets a fault."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Literal

Kind = Literal["kill", "raise"]

# The faults that are possible at each place. An exception before a commit is an error of the commit itself. Killing a process in an agent's
# own code is the same as killing it after the last commit.
PLACES: dict[str, set[Kind]] = {
    "before commit": {"kill", "raise"},
    "after commit": {"kill"},
    "model": {"kill", "raise"},
    "tool begins": {"kill", "raise"},
    "tool did it": {"kill", "raise"},
    "callback": {"raise"},
    "agent continues": {"raise"},
    "consumer leaves": {"raise"},
}


class InjectedCrash(Exception):
    """An error that a sweep injects."""


@dataclass(slots=True)
class Fault:
    """A fault at the n-th place where it is possible. Number 0 means no fault; the places are only counted."""

    kind: Kind
    number: int
    reached: int = 0
    place: str = ""

    def reach(self, place: str) -> None:
        """Count a place, and inject the fault if it is due.

        Raises:
            InjectedCrash: the fault is due at this place, and is an exception.
        """
        if self.kind not in PLACES[place]:
            return
        self.reached += 1
        if self.reached != self.number:
            return
        self.place = place
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise InjectedCrash(f"{place}, {self.number}")


current = Fault("raise", 0)  # this process's fault; each run of a sweep has its own process


def plan(kind: Kind, number: int) -> None:
    """Set this process's fault."""
    global current
    current = Fault(kind, number)


def reach(place: str) -> None:
    """Count a place in this process; see `Fault.reach`."""
    current.reach(place)
