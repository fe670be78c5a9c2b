"""Places in a run, numbered as it reaches them, and what is to happen at one of them."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Literal

Kind = Literal["kill", "raise"]

PLACES: dict[str, set[Kind]] = {
    "before commit": {"kill", "raise"},
    "after commit": {"kill"},
    "model": {"kill", "raise"},
    "tool begins": {"kill", "raise"},
    "tool did it": {"kill", "raise"},
    "callback": {"raise"},
    "agent goes on": {"raise"},
    "consumer leaves": {"raise"},
}
"""What can happen where. An exception before a commit is one in the commit itself; a process that is killed while an agent runs its own
code is the same as one that is killed after the last commit."""


class InjectedCrash(Exception):
    """Raised where a sweep wants it."""


@dataclass(slots=True)
class Fault:
    """What shall happen at the n-th place that it can happen at; number 0: nowhere, places are only counted."""

    kind: Kind
    number: int
    reached: int = 0
    place: str = ""

    def reach(self, place: str) -> None:
        """Say that a place is reached.

        Raises:
            InjectedCrash: it is the one.
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


current = Fault("raise", 0)
"""Of this process: each run of a sweep is a process of its own."""


def plan(kind: Kind, number: int) -> None:
    """Set what shall happen in this process."""
    global current
    current = Fault(kind, number)


def reach(place: str) -> None:
    """Say that the process has reached a place; see `Fault.reach`."""
    current.reach(place)
