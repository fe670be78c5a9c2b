"""How runs ended, recorded beside the events, which do not always tell."""

from __future__ import annotations

from typing import Literal, NamedTuple


class RecordedEnd(NamedTuple):
    """The end of a run that this program drove. It holds as long as its last event is still the invocation's last.

    Attributes:
        status: `finished`; `stopped` by a person; `failed` with an error; `interrupted`, which older versions recorded for both;
            `unfinished`, which this program never stores, if another program drives the run.
        reason: a phrase that explains the status.
        last_event_id: the invocation's last event when the run ended.
        at: epoch seconds.
    """

    status: Literal["finished", "stopped", "failed", "interrupted", "unfinished"]
    reason: str
    last_event_id: str
    at: float
