"""Where a run waits."""

from __future__ import annotations

from typing import Any

PLACES = ("event", "agent start", "agent end", "before model", "before tool", "error")


class Policy:
    """At which places the run waits for an answer. Replaced as a whole, by the thread that reads commands.

    Attributes:
        hold: names of PLACES.
        state: whether waiting places report the whole state.
        requests: whether model calls report their request even if they do not wait.
    """

    def __init__(self, hold: Any = PLACES, state: bool = False, requests: bool = True) -> None:
        self.hold = frozenset(hold)
        self.state = state
        self.requests = requests
