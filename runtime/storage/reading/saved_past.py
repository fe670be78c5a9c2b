"""The past of a long session, saved in our cache folder once it was read, so that the next opening reads only what was added since.

A file has one JSON value a line: what it is about, then the remembered states. It is used only if the session still has the events that it
covers: the first and the last of them are compared with the stored rows, and what other sessions wrote with what they wrote now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runtime.history.state_at import Folded, History
from runtime.history.state_checkpoints import StateAccumulator
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.event_pages import EventPages
from runtime.storage.reading.saved_scan import remove_stale, write_values

MOST_BYTES = 8_000_000  # of one file; above, every second state is left out
MOST_KEPT = 40  # number of files

_VERSION = 1
_SUFFIX = ".past"


class SavedPast:
    """The saved past of one session of a database file.

    Args:
        folder: the folder of all saved pasts. It is created if it does not exist, readable by its owner only.
        file: the database.
        key: the session.
    """

    def __init__(self, folder: Path, file: Path, key: SessionKey) -> None:
        name = hashlib.sha256(json.dumps([str(file.absolute()), *key]).encode()).hexdigest()[:24]
        self.path = folder / f"{name}{_SUFFIX}"

    def load_into(self, history: History, pages: EventPages) -> bool:
        """Continue a history from the saved one; return whether that is possible.

        Args:
            history: of the session, not read yet.
            pages: its events.
        """
        try:
            with self.path.open(encoding="utf-8") as lines:
                about = json.loads(next(lines))
                if about != {**_about(history, pages, about["covered"]), "stride": about["stride"], "explanation": about["explanation"]}:
                    return False
                states = [_state(json.loads(line)) for line in lines]
            if len(states) * about["stride"] != about["covered"]:
                return False
            self.path.touch()
        except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):  # none, damaged, or of another version
            return False
        history.restore(Folded(about["stride"], [StateAccumulator({}, set()), *states], about["explanation"]))
        return True

    def save(self, history: History, pages: EventPages) -> None:
        """Save what was read; a folder that cannot be written is ignored.

        Args:
            history: of the session, read.
            pages: its events.
        """
        folded = history.folded()
        if folded is None:
            return
        stride, states, explanation = folded
        states = states[1:]
        while states and _size(states) > MOST_BYTES:
            stride, states = 2 * stride, states[1::2]
        while states and len(states) * stride > len(pages):
            states = states[:-1]
        if not states:
            return
        about = {**_about(history, pages, len(states) * stride), "stride": stride, "explanation": explanation}
        write_values(self.path, [about, *map(_lines, states)])
        remove_stale(self.path.parent, _SUFFIX, MOST_KEPT)


def _about(history: History, pages: EventPages, covered: int) -> dict[str, Any]:
    """Return what must be the same when a file is used."""
    others = [[write.before, dict(write.delta), write.complete, list(write.forgotten)] for write in history.writes_before(covered - 1)]
    known = json.dumps([history.baseline, others], sort_keys=True)
    return {
        "version": _VERSION,
        "covered": covered,
        "others": hashlib.sha256(known.encode()).hexdigest(),
        "first": pages.fingerprint(0),
        "last": pages.fingerprint(covered - 1),
    }


def _lines(state: StateAccumulator) -> list[Any]:
    return [state.values, sorted(state.complete), state.writers, state.has_gap]


def _state(saved: list[Any]) -> StateAccumulator:
    values, complete, writers, has_gap = saved
    return StateAccumulator(dict(values), set(complete), {key: int(index) for key, index in writers.items()}, bool(has_gap))


def _size(states: Sequence[StateAccumulator]) -> float:
    """Return about how many bytes states take, from a sample of them."""
    sample = states[:: max(len(states) // 50, 1)]
    return sum(len(json.dumps(_lines(state))) for state in sample) / len(sample) * len(states)
