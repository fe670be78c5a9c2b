"""A summary when it is due."""

from __future__ import annotations

import logging

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.apps.app import EventsCompactionConfig
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.compaction import events_to_sum_up
from runtime.events.event import Event
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
