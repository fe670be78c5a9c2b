"""What a run begins with: which invocation it starts or resumes, and which agent goes first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.agents.invocation_context import InvocationContext
from runtime.errors.resume_error import ResumeError
from runtime.events.event import Event
from runtime.rewind import without_rewound
from runtime.sessions.event_list import events_of
from runtime.sessions.session import Session


def which_invocation(session: Session, invocation_id: str | None, message: types.Content | None, *, is_resumable: bool) -> str | None:
    """Return the id of the invocation to resume; None for a new one (seed: resume, "Reanudar un flujo de trabajo detenido").

    Args:
        session: where.
        invocation_id: what was asked for.
        message: what the user says; a function response belongs to the invocation of its call.
        is_resumable: whether the app is.

    Raises:
        ResumeError: there is nothing to run or to resume; the text says why.
    """
    answered = answered_calls(message)
    asked_by = call_event(session.events, answered)
    if answered and asked_by is None:
        raise ResumeError(f"No function call in session {session.id} has the id {', '.join(sorted(answered))} that the response is for.")
    if not is_resumable:
        if message is None:
            raise ResumeError(
                f"Running an agent requires a new_message or a resumable app. Session: {session.id}, user: {session.user_id}. To resume"
                " invocations, make the app with ResumabilityConfig(is_resumable=True)."
            )
        return None
    if asked_by is not None:
        return asked_by.invocation_id
    if invocation_id is None and message is None:
        raise ResumeError(
            "Running an agent requires either a new_message or an invocation_id to resume a previous invocation."
            f" Session: {session.id}, user: {session.user_id}."
        )
    if invocation_id is not None and message is None:
        _check_can_resume(session, invocation_id)
    return invocation_id


def _check_can_resume(session: Session, invocation_id: str) -> None:
    if not session.events:
        raise ResumeError(f"Session {session.id} has no events to resume.")
    if first_message(session.events, invocation_id) is None:
        why = f"Session {session.id} has no such invocation."
    elif not events_of(without_rewound(session.events), invocation_id):
        why = "It was taken back by a rewind."
    else:
        return
    raise ResumeError(f"No user message available for resuming invocation: {invocation_id}. {why}")


def agent_to_run(root: BaseAgent, ctx: InvocationContext) -> BaseAgent:
    """Return the agent to begin with: the root if it is being resumed, else who asked or spoke last, else the root.

    Args:
        root: of the agent tree.
        ctx: the invocation, its user message committed.
    """
    if not root.sub_agents or root.name in ctx.end_of_agents:
        return root
    asked_by = call_event(ctx.session.events, answered_calls(ctx.user_content))
    if asked_by is not None:
        return root.find_agent(asked_by.author) or root
    for event in reversed(without_rewound(ctx.session.events)):
        if event.author == "user" or event.actions.agent_state is not None or event.actions.end_of_agent:
            continue
        agent = root.find_agent(event.author)
        if agent is not None and _is_reachable_by_transfer(agent):
            return agent
    return root


def answered_calls(message: types.Content | None) -> set[str]:
    """Return the ids of the calls that a message's function responses are for."""
    return {
        part.function_response.id
        for part in (message.parts if message else None) or []
        if part.function_response and part.function_response.id
    }


def call_event(events: Sequence[Event], call_ids: set[str]) -> Event | None:
    """Return the newest event that made one of these calls and was not taken back."""
    for event in reversed(without_rewound(events)) if call_ids else ():
        if any(call.id in call_ids for call in event.get_function_calls()):
            return event
    return None


def first_message(events: Sequence[Event], invocation_id: str) -> types.Content | None:
    """Return the message that began an invocation."""
    for event in events_of(events, invocation_id):
        if event.author == "user" and event.content:
            return event.content
    return None


def _is_reachable_by_transfer(agent: BaseAgent) -> bool:
    """Return whether every agent up to the root is an LlmAgent that allows transfers."""
    up: Iterable[BaseAgent] = (agent, *agent.ancestors())
    return all(hasattr(above, "disallow_transfer_to_parent") and not above.disallow_transfer_to_parent for above in up)
