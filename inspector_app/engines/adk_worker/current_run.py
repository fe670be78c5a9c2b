"""The run, and the way to the inspector that holds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .channel import Channel
from .errors import error_fields
from .plugin_file import plugin


class CurrentRun(plugin.Link):
    """The run that the last `run` command started, and what holds for each run.

    Attributes:
        run: its places, calls and edits. It stays when it has ended: what it has left behind may still report something.
        is_active: whether it has begun and not ended.
        is_stopping: whether it was told to stop.
        folder: the agent's folder.
        session: the Runner's own copy of the session; None before its first commit.
        on_committed: called with each event that is stored, its session, and the fields of the message.
    """

    def __init__(self, channel: Channel, look: Callable[[], None]) -> None:
        super().__init__()
        self._channel = channel
        self._look = look
        self.run = plugin.Run(self, None, "")
        self.is_active = False
        self.is_stopping = False
        self.folder: Path | None = None
        self.session: Any = None
        self.on_committed: Callable[[Any, Any, dict[str, Any]], None] = lambda session, event, fields: None

    def begin(self, number: Any, session_id: str) -> None:
        """Begin a run."""
        self.run = plugin.Run(self, number, session_id)
        self.is_active, self.is_stopping = True, False

    def end(self) -> dict[str, Any]:
        """End the run; return the user's changes that no event has recorded."""
        self.is_active = False
        self.session = None
        self.forget_waiting()
        return self.run.end()

    def send(self, kind: str, raw: str | None = None, /, **fields: Any) -> None:
        """Write a message."""
        self._channel.send(kind, raw, **fields)

    def look(self) -> None:
        """Take the commands that have arrived."""
        self._look()

    def waits_at(self, place: str) -> bool:
        """Return whether the run waits at a place; one that stops does not."""
        return place in self.policy.hold and not self.is_stopping

    async def run_of(self, context: Any) -> plugin.Run:
        """Return the run."""
        return self.run

    def run_of_event(self, session: Any, event: Any) -> plugin.Run:
        """Return the run."""
        return self.run

    async def committed(self, run: plugin.Run | None, session: Any, event: Any, fields: dict[str, Any]) -> None:
        """Report that the session service has stored an event."""
        if self.is_active and session.id == self.run.session_id:
            self.run.state, self.session = dict(session.state), session
        self.on_committed(session, event, fields)

    def error_fields(self, error: BaseException) -> dict[str, Any]:
        """Return an exception as JSON, with the place in the agent's code."""
        return error_fields(error, self.folder)
