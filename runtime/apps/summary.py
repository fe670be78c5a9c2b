"""Summaries of old events: when one is due, what it covers, and making it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

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
    """Sum up a session's old events, if it is time to; that it fails is logged: the run before it has succeeded.

    Args:
        config: when, and who sums up.
        root: the app's root agent; its language model sums up where the configuration names nobody.
        session: as it is now.
        resumable: interrupted invocations can be resumed.

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
        logger.error("Session %s could not be summed up: %s: %s", session.id, type(error).__name__, error, exc_info=error)
        return None


def _first_model(root: BaseAgent) -> BaseLlm:
    """Return the language model of the tree's first LlmAgent, the default one if there is none."""
    agents = [agent for agent in (root, *root.descendants()) if isinstance(agent, LlmAgent)]
    return agents[0].canonical_model if agents else LLMRegistry.new_llm(LlmAgent.DEFAULT_MODEL)


def events_to_sum_up(config: EventsCompactionConfig, events: Sequence[Event], *, resumable: bool) -> list[Event]:
    """Return the events that are to be summed up now; none if it is not time yet.

    An invocation that waits for an answer, or can be resumed, ends what is summed up: its agents must find their calls as they made them.

    Args:
        config: when to sum up.
        events: the session's, in commit order.
        resumable: interrupted invocations can be resumed.
    """
    present = without_rewound(events)
    open_ones = {"paused", "interrupted"} if resumable else {"paused"}
    first_open = next((one.first_event_id for one in invocations(present) if one.status in open_ones), None)
    end = next((index for index, event in enumerate(present) if event.id == first_open), len(present))
    done = present[:end]
    return _too_many_tokens(config, done) or _window(config, done)


def _window(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return the newest invocations, if they are enough, with some that the last summary covers already."""
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
    """Return all but the newest events, behind the last summary, if the last prompt was too long."""
    if config.token_threshold is None or config.event_retention_size is None:
        return []
    sizes = [event.usage_metadata.prompt_token_count for event in events if event.usage_metadata]
    if not sizes or (sizes[-1] or 0) < config.token_threshold:
        return []
    shown = [event for event in events if not event.actions.compaction]
    last = _last_summary(events)
    if last is not None:
        shown = [event for event in shown if event.timestamp > last.end_timestamp]
    split = _between_turns(shown, len(shown) - config.event_retention_size)
    if split <= 0:
        return []
    before = [event for event in events if event.actions.compaction is last] if last is not None else []
    return [*before, *shown[:split]]


def _between_turns(events: Sequence[Event], split: int) -> int:
    """Return the last place up to `split` that parts no function call from its response."""
    for index in range(min(split, len(events)), 0, -1):
        called = {call.id for event in events[:index] for call in event.get_function_calls()}
        if not called & {response.id for event in events[index:] for response in event.get_function_responses()}:
            return index
    return 0


def _last_summary(events: Sequence[Event]) -> EventCompaction | None:
    return next((event.actions.compaction for event in reversed(events) if event.actions.compaction), None)
