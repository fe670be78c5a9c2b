"""Fakes of the owners that a unit test does not exercise."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress


@dataclass
class FakeAgent:
    """A loaded agent that can be resumed."""

    folder: Path = Path("story")
    name: str = "story"
    root: Any = None
    reasons: dict[str, str] = field(default_factory=dict)

    def why_not(self, capability: str) -> str | None:
        return self.reasons.get(capability)


class FakeAgents(QObject):
    """Loads agents at once."""

    agent_loaded = Signal(object)
    busy_changed = Signal()

    def __init__(self, loaded: FakeAgent | None = None) -> None:
        super().__init__()
        self.loaded = loaded
        self.busy = ""
        self.server = ""

    def load(self, agent: FakeAgent) -> None:
        self.loaded = agent
        self.agent_loaded.emit(agent)


class FakeMessages:
    """Collects the posted texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def info(self, text: str, *, quiet: bool = False) -> None:
        self.texts.append(text)

    warning = info


class FakeTasks:
    """Collects coroutines; a test awaits them."""

    def __init__(self) -> None:
        self.spawned: list[Coroutine[Any, Any, Any]] = []

    def spawn(self, work: Coroutine[Any, Any, Any], _title: str, *, background: bool = False) -> None:
        self.spawned.append(work)

    async def run_all(self) -> None:
        while self.spawned:
            await self.spawned.pop(0)


@dataclass
class FakeSource:
    """A database that is open."""

    target: str = "story.db"
    title: str = "story.db"
    badge: str = "v1"
    file_bytes: int = 0
    note: str = ""
    writing_allowed: bool = True
    is_unsaved: bool = False
    can_write: bool = True
    can_copy: bool = True
    read_only_reason: str = "story.db is read-only here."
    read_only_because: str = ""


@dataclass
class FakeDocument:
    """A displayed session."""

    address: SessionAddress
    source: FakeSource = field(default_factory=FakeSource)
    invocations: list[Any] = field(default_factory=list)
    events: Any = ()
