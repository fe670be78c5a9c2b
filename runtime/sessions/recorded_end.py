"""How runs ended, recorded beside the events, which do not always tell."""

from __future__ import annotations

from typing import Literal, NamedTuple


class RecordedEnd(NamedTuple):
    """The end of a run that this program drove. It holds as long as its last event is still the invocation's last.

    Attributes:
        status: `finished`; `interrupted` by an error or a person; `unfinished`, which is never stored, if
            another program drives the run.
        reason: a phrase that explains the status.
        last_event_id: the invocation's last event when the run ended.
        at: epoch seconds.
    """

    status: Literal["finished", "interrupted", "unfinished"]
    reason: str
    last_event_id: str
    at: float
