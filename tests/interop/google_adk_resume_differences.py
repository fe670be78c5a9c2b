"""All cases where the real google-adk, resuming our runtime's session, does not reach the state of the uninterrupted run.

google-adk opens each of these sessions, reads the events and the state that we wrote, and accepts a further message. The differences come
from its own resume, which behaves the same on sessions that it wrote itself, where it can reach such a state.
"""

from __future__ import annotations

from typing import NamedTuple

EVERY = frozenset(range(1, 100))
BOTH = frozenset({"1.39", "2.13"})


class Difference(NamedTuple):
    """The versions and numbers of events for which google-adk differs, and the reason."""

    versions: frozenset[str]
    kept: frozenset[int]
    reason: str


_SOME_RESULTS = "a turn counts as answered when one of its results is committed (ours commits each result alone); other calls are not made"
_ASKED_AGAIN = "the model is called again although the agent's answer is committed, and gives its answer of the next round"
_NOT_LAST = "an open call is made only if it is the last event; a restarted agent or its callback has added an event since"
_NO_RECEIPT = "a long-running call whose tool has not run is not made on resume; changes of a tool that returns nothing are not stored"
_ASKS = "a result that asks for a confirmation or credential, committed without the request, counts as the answer (ours adds the request)"
_WALKS_ON = "a parent continues past a paused child"
_NAMES = "credentials have different names, so the answer to our request is not found, and the tool asks again"
_OWN_RUN = "its own uninterrupted run of this tree also ends so: it continues at the first of several answers, or loses the answer's call"
_HANDED_OVER = "a root LlmAgent is resumed by calling its model; the workflow it had transferred to is not continued"
_TRANSFER = "resumed after a transfer, the confirmed call is not made"


def _both(reason: str, *kept: int) -> Difference:
    return Difference(BOTH, frozenset(kept) or EVERY, reason)


DIFFERENCES: dict[str, list[Difference]] = {
    "parallel calls": [_both(_SOME_RESULTS, 3, 4)],
    "parallel": [_both(_SOME_RESULTS, 7, 8, 9, 10)],
    "agent as a tool": [_both(_SOME_RESULTS, 3)],
    "loop that is left": [_both(_ASKED_AGAIN, 3, 4)],
    "loop in loop": [_both(_ASKED_AGAIN, 4, 5)],
    "custom with workflows": [_both(_ASKED_AGAIN, 15, 16)],
    "custom without checkpoints": [_both(_NOT_LAST, 3)],
    "custom without checkpoints round workflows": [_both(_NOT_LAST, 4, 13)],
    "custom without checkpoints in workflows": [_both(_NOT_LAST, 10)],
    "callbacks that write": [_both(_NOT_LAST, 5)],
    "long-running": [_both(_NO_RECEIPT, 2)],
    "long-running without a receipt": [_both(_NO_RECEIPT, 1, 2)],
    "long-running in sequential": [_both(_NO_RECEIPT, 6)],
    "confirmation": [_both(_ASKS, 3)],
    "confirmation asked by the tool": [_both(_ASKS, 3)],
    "credential": [_both(_ASKS, 3), _both(_NAMES, 4, 5)],
    "one after the other waits": [_both(_NO_RECEIPT, 2), _both(_ASKS, 6)],
    "confirmation in loop": [_both(_ASKS, 4), _both(_WALKS_ON, 5)],
    "several that wait": [_both(_SOME_RESULTS, 2, 3, 4, 5, 6, 7, 8, 9), _both(_OWN_RUN, 1)],
    "two branches wait": [_both(_OWN_RUN)],
    "long-running in custom": [_both(_OWN_RUN, 1, 2, 3, 4, 5)],
    "transfer to a workflow": [Difference(frozenset({"2.13"}), frozenset({5}), _HANDED_OVER)],
    "confirmation after a transfer": [_both(_TRANSFER, 3, 4, 5, 6)],
}


def difference(name: str, version: str, kept: int) -> str | None:
    """Return why google-adk reaches a different state when it resumes after `kept` events, or None if it does not."""
    found = (each.reason for each in DIFFERENCES.get(name, ()) if version in each.versions and kept in each.kept)
    return next(found, None)
