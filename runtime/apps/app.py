"""The app that a Runner runs."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from runtime.agents.base_agent import BaseAgent
from runtime.agents.context_cache_config import ContextCacheConfig
from runtime.apps.base_events_summarizer import BaseEventsSummarizer
from runtime.border import refuse_stand_ins
from runtime.plugins.base_plugin import BasePlugin

_NAME = re.compile(r"[^\W\d][\w-]*")


class ResumabilityConfig(BaseModel):
    """Settings for resuming invocations.

    Attributes:
        is_resumable: agents commit checkpoints, an invocation pauses at a long-running call, and `run_async(invocation_id=…)` continues
            from the last checkpoint.
    """

    is_resumable: bool = False


class EventsCompactionConfig(BaseModel):
    """Settings for summarising old events. Give one pair of numbers, or both.

    Attributes:
        summarizer: writes the summaries; the root agent's language model if None.
        compaction_interval: number of new invocations after which they are summarised.
        overlap_size: number of earlier invocations that each summary covers again, for continuity.
        token_threshold: prompt size, in tokens, at which all but the newest events are summarised.
        event_retention_size: number of newest events that are then kept.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    summarizer: BaseEventsSummarizer | None = None
    compaction_interval: int | None = Field(default=None, gt=0)
    overlap_size: int | None = Field(default=None, ge=0)
    token_threshold: int | None = Field(default=None, gt=0)
    event_retention_size: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _whole_pairs(self) -> EventsCompactionConfig:
        pairs = [("compaction_interval", "overlap_size"), ("token_threshold", "event_retention_size")]
        given = [[name for name in pair if getattr(self, name) is not None] for pair in pairs]
        if not any(given):
            raise ValueError("Give compaction_interval and overlap_size, or token_threshold and event_retention_size.")
        for pair, found in zip(pairs, given, strict=True):
            if len(found) == 1:
                raise ValueError(f"{pair[0]} and {pair[1]} belong together; only {found[0]} is given.")
        return self


def validate_app_name(name: str) -> None:
    """Check the name of an app.

    Raises:
        ValueError: sessions cannot be stored under it.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not an app name: use letters, digits, _ and -, beginning with a letter.")
    if name == "user":
        raise ValueError("An app cannot be called 'user': that name marks the user's events.")


class App(BaseModel):
    """A root agent with the settings of all its runs.

    Attributes:
        name: the app's name in session databases.
        root_agent: the agent that begins a conversation.
        plugins: hooks around every run.
        resumability_config: whether runs can be resumed.
        events_compaction_config: when old events are summarised; never if None.
        context_cache_config: see `ContextCacheConfig`; used by the google-adk engine only.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    name: str
    root_agent: BaseAgent
    plugins: list[BasePlugin] = Field(default_factory=list)
    resumability_config: ResumabilityConfig | None = None
    events_compaction_config: EventsCompactionConfig | None = None
    context_cache_config: ContextCacheConfig | None = None

    @model_validator(mode="before")
    @classmethod
    def _know_all_parts(cls, given: Any) -> Any:
        if isinstance(given, dict):
            refuse_stand_ins(*given.values())
        return given

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        validate_app_name(name)
        return name
