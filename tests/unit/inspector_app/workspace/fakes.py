"""Stand-ins for the owners that a unit test does not exercise."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal


@dataclass
class FakeAgent:
    """What is asked of a loaded agent."""

    folder: Path
    name: str = "story"
    app: Any = field(default_factory=lambda: SimpleNamespace(resumability_config=None, root_agent=None))


class FakeAgents(QObject):
    """Loads agents at once."""

    agent_loaded = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.loaded: FakeAgent | None = None

    def load(self, agent: FakeAgent) -> None:
        self.loaded = agent
        self.agent_loaded.emit(agent)


class FakeMessages:
    """Collects what is reported."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def info(self, text: str, *, quiet: bool = False) -> None:
        self.texts.append(text)

    warning = info
