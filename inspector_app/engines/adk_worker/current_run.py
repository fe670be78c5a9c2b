"""What the parts of the worker know of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .policy import Policy


class CurrentRun:
    """The run that the last `run` command started, and what holds for each run.

    Attributes:
        number: the command's id.
        session_id: the session that it works on.
        is_active: whether it has begun and not ended.
        is_stopping: whether it was told to stop.
        policy: where it waits; also set between runs.
        folder: the agent's folder.
        state: the session's committed state; None before the first agent starts.
        session: the Runner's own copy of the session; None before its first commit.
    """

    def __init__(self) -> None:
        self.number: Any = None
        self.session_id = ""
        self.is_active = False
        self.is_stopping = False
        self.policy = Policy()
        self.folder: Path | None = None
        self.state: dict[str, Any] | None = None
        self.session: Any = None

    def begin(self, number: Any, session_id: str) -> None:
        """Begin a run."""
        self.number, self.session_id = number, session_id
        self.is_active, self.is_stopping = True, False

    def end(self) -> None:
        """End the run. Its number stays: what it has left behind may still report something."""
        self.is_active = False
        self.state = self.session = None
