"""An app: what the Runner runs."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from runtime.agents.base_agent import BaseAgent
from runtime.plugins.base_plugin import BasePlugin

_NAME = re.compile(r"[^\W\d][\w-]*")


class ResumabilityConfig(BaseModel):
    """Whether runs leave checkpoints and can be resumed (seed: resume, "Agregar configuración reanudable").

    Attributes:
        is_resumable: agents record where they are, an invocation pauses at a long-running call, and `run_async(invocation_id=…)` goes on
            from the last checkpoint.
    """

    is_resumable: bool = False


class App(BaseModel):
    """A root agent with what belongs to all its runs.

    Attributes:
        name: names the app in session databases.
        root_agent: the agent a conversation begins with.
        plugins: hooks around every run.
        resumability_config: whether runs can be resumed.
        events_compaction_config: whether old events are summarised, and when.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    name: str
    root_agent: BaseAgent
    plugins: list[BasePlugin] = Field(default_factory=list)
    resumability_config: ResumabilityConfig | None = None
    events_compaction_config: Any | None = None

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no app name: use letters, digits, _ and -, beginning with a letter.")
        if name == "user":
            raise ValueError("An app cannot be called 'user': that is how events of the person are marked.")
        return name
