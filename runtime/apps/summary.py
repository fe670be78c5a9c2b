"""Summaries of old events: when one is due and which events it covers."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.apps.app import EventsCompactionConfig
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.events.event import Event
from runtime.events.event_actions import EventCompaction
from runtime.history.invocations import invocations
from runtime.history.rewound import without_rewound
from runtime.models.base_llm import BaseLlm
from runtime.models.registry import LLMRegistry
from runtime.sessions.session import Session

logger = logging.getLogger(__name__)


async def summary_if_due(config: EventsCompactionConfig, root: BaseAgent, session: Session, *, resumable: bool) -> Event | None:
    """Summarise a session's old events if a summary is due. A failure is only logged, as the run before it succeeded.

    Args:
        config: when to summarise, and the summarizer.
        root: the app's root agent; its language model summarises if the configuration has no summarizer.
        session: the session.
        resumable: whether interrupted invocations can be resumed.

    Returns:
        The event to commit, if any.
    """
    try:
        events = events_to_sum_up(config, session.events, resumable=resumable)
        if not events:
            return None
        summarizer = config.summarizer or LlmEventSummarizer(_first_model(root))
        return await summarizer.maybe_summarize_events(events=events)
    except Exception as error:
        logger.error("Session %s could not be summarised: %s: %s", session.id, type(error).__name__, error, exc_info=error)
        return None


def _first_model(root: BaseAgent) -> BaseLlm:
    """Return the language model of the tree's first LlmAgent, or the default model if there is none."""
    agents = [agent for agent in (root, *root.descendants()) if isinstance(agent, LlmAgent)]
    return agents[0].canonical_model if agents else LLMRegistry.new_llm(LlmAgent.DEFAULT_MODEL)


def events_to_sum_up(config: EventsCompactionConfig, events: Sequence[Event], *, resumable: bool) -> list[Event]:
    """Return the events to summarise now; empty if no summary is due.

    Events from the first paused or resumable invocation on are never summarised: its agents need their calls unchanged.

    Args:
        config: when to summarise.
        events: the session's events, in commit order.
        resumable: whether interrupted invocations can be resumed.
    """
    present = without_rewound(events)
    open_ones = {"paused", "interrupted"} if resumable else {"paused"}
    first_open = next((one.first_event_id for one in invocations(present) if one.status in open_ones), None)
    end = next((index for index, event in enumerate(present) if event.id == first_open), len(present))
    done = present[:end]
    return _too_many_tokens(config, done) or _window(config, done)


def _window(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return the new invocations, if there are enough, preceded by the overlap with the last summary."""
    if config.compaction_interval is None or config.overlap_size is None:
        return []
    last = _last_summary(events)
    ends: dict[str, float] = {}
    for event in events:
        if not event.actions.compaction:
            ends[event.invocation_id] = max(event.timestamp, ends.get(event.invocation_id, event.timestamp))
    order = list(ends)
    new = [name for name in order if last is None or ends[name] > last.end_timestamp]
    if len(new) < config.compaction_interval:
        return []
    chosen = set(order[max(0, order.index(new[0]) - config.overlap_size) :])
    return [event for event in events if event.invocation_id in chosen]


def _too_many_tokens(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return all but the newest events since the last summary, if the last prompt was too long."""
    if config.token_threshold is None or config.event_retention_size is None:
        return []
    shown = [event for event in events if not event.actions.compaction]
    last = _last_summary(events)
    if last is not None:
        shown = [event for event in shown if event.timestamp > last.end_timestamp]
    sizes = [event.usage_metadata.prompt_token_count for event in events if event.usage_metadata]
    size = (sizes[-1] or 0) if sizes else _estimated_tokens([event.content for event in shown] + [last.compacted_content if last else None])
    if size < config.token_threshold:
        return []
    split = _between_turns(shown, len(shown) - config.event_retention_size)
    if split <= 0:
        return []
    before = [event for event in events if event.actions.compaction is last] if last is not None else []
    return [*before, *shown[:split]]


def _estimated_tokens(contents: Sequence[types.Content | None]) -> int:
    """Return the tokens of a prompt whose model reports none, by google-adk's rule of thumb: 4 characters each."""
    parts = [part for content in contents if content for part in content.parts or ()]
    return sum(len(part.text or "") for part in parts) // 4


def _between_turns(events: Sequence[Event], split: int) -> int:
    """Return the last index up to `split` that does not separate a function call from its response."""
    for index in range(min(split, len(events)), 0, -1):
        called = {call.id for event in events[:index] for call in event.get_function_calls()}
        if not called & {response.id for event in events[index:] for response in event.get_function_responses()}:
            return index
    return 0


def _last_summary(events: Sequence[Event]) -> EventCompaction | None:
    return next((event.actions.compaction for event in reversed(events) if event.actions.compaction), None)
