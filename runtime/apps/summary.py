"""Summaries of old events: when one is due and which events it covers."""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.apps.app import EventsCompactionConfig
from runtime.apps.base_events_summarizer import summary_event
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.events.event import Event
from runtime.events.event_actions import EventCompaction
from runtime.events.marks import ASKING_CALLS
from runtime.flows.summaries import HEADING, with_summaries
from runtime.history.rewound import without_rewound
from runtime.models.base_llm import BaseLlm
from runtime.models.registry import LLMRegistry
from runtime.sessions.session import Session

logger = logging.getLogger(__name__)


async def summary_if_due(config: EventsCompactionConfig, root: BaseAgent, session: Session) -> Event | None:
    """Summarise a session's old events if a summary is due. A failure is only logged, as the run before it succeeded.

    Args:
        config: when to summarise, and the summarizer.
        root: the app's root agent; its language model summarises if the configuration has no summarizer.
        session: the session.

    Returns:
        The event to commit, if any.
    """
    try:
        events = events_to_sum_up(config, session.events)
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


def events_to_sum_up(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return the events to summarise now; empty if no summary is due.

    Args:
        config: when to summarise.
        events: the session's events, in commit order.
    """
    present = without_rewound(events)
    for chosen in (_too_many_tokens(config, present), _window(config, present)):
        if chosen and _shortens_requests(present, chosen):
            return chosen
    return []


def _window(config: EventsCompactionConfig, events: Sequence[Event]) -> list[Event]:
    """Return the new invocations, if there are enough, preceded by the overlap with the last summary."""
    if config.compaction_interval is None or config.overlap_size is None:
        return []
    last = _last_summary(events)
    said = [event for event in events if not event.actions.compaction]
    ends: dict[str, float] = {}
    for event in said:
        ends[event.invocation_id] = max(event.timestamp, ends.get(event.invocation_id, event.timestamp))
    order = list(ends)
    new = [name for name in order if last is None or ends[name] > last.end_timestamp]
    if len(new) < config.compaction_interval:
        return []
    ids = [event.invocation_id for event in said]
    start = ids.index(order[max(0, order.index(new[0]) - config.overlap_size)])
    end = len(ids) - ids[::-1].index(new[-1])
    return _without_open_calls(said[start:end], events)


def _shortens_requests(events: Sequence[Event], chosen: Sequence[Event]) -> bool:
    """Return whether a summary can make requests shorter: one as long as the last summary, as in google-adk 2.13."""
    empty = summary_event(chosen, types.Content(parts=[]))
    last = _last_summary(events)
    before, after = with_summaries(events), with_summaries([*events, empty])
    same = {id(event) for event in before} & {id(event) for event in after}
    removed, added = (sum(_length(event.content) for event in told if event.content and id(event) not in same) for told in (before, after))
    return removed - added > (_length(last.compacted_content) if last else 0)


def _length(content: types.Content) -> int:
    parts = content.parts or []
    if parts and parts[0].text == HEADING:  # of google-adk's message without our words
        content = types.Content(role="model", parts=parts[1:])
    return len(content.model_dump_json(exclude_none=True, fallback=str))


def _without_open_calls(chosen: list[Event], events: Sequence[Event]) -> list[Event]:
    """Return the longest beginning of events after which no call waits for a result, as in google-adk 2.13.

    Calls of earlier invocations that will never get a result do not count: one failed run would stop all summaries.
    """
    length = _length_without_open_calls(chosen, frozenset())
    if length == len(chosen) or (length and chosen[length - 1].invocation_id != chosen[length].invocation_id):
        return chosen[:length]
    return chosen[: max(length, _length_without_open_calls(chosen, _never_answered(events)))]


def _length_without_open_calls(events: Sequence[Event], never_answered: Container[str | None]) -> int:
    open_calls: set[str | None] = set()
    length = 0
    for index, event in enumerate(events, 1):
        open_calls -= {response.id for response in event.get_function_responses()}
        made = [*(call.id for call in event.get_function_calls()), *_requested(event)]
        open_calls.update(call_id for call_id in made if call_id not in never_answered)
        if not open_calls:
            length = index
    return length


def _never_answered(events: Sequence[Event]) -> set[str | None]:
    """Return the calls of all but the newest invocation that have no result, except long-running ones that are no requests to a person."""
    newest = next((event.invocation_id for event in reversed(events) if not event.actions.compaction), None)
    calls: set[str | None] = set()
    answered: set[str | None] = set()
    for event in events:
        if event.invocation_id != newest:
            long_running = event.long_running_tool_ids or ()
            calls.update(call.id for call in event.get_function_calls() if call.id not in long_running or call.name in ASKING_CALLS)
        answered.update({response.id for response in event.get_function_responses()} - set(_requested(event)))
    return calls - answered


def _requested(event: Event) -> list[str]:
    """Return the calls whose results ask a person."""
    return [*event.actions.requested_tool_confirmations, *event.actions.requested_auth_configs]


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
    chosen = _without_open_calls(shown[:split], events)
    if not chosen:
        return []
    before = [event for event in events if event.actions.compaction is last] if last is not None else []
    return [*before, *chosen]


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
