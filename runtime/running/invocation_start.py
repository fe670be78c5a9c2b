"""The start of a run: which invocation it starts or resumes, the user's message, and the first agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.contexts.context import CallbackContext
from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.resume_error import ResumeError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.history.checkpoints import read_checkpoints
from runtime.history.rewound import without_rewound
from runtime.sessions.event_list import events_of
from runtime.sessions.session import Session


@dataclass(frozen=True, slots=True)
class Start:
    """What a run begins with.

    Attributes:
        resumed_id: the invocation to resume; None for a new one.
        message: the message to commit; None if the run only continues.
        user_content: the message, or else the one that began the resumed invocation.
        asked_by: the event with the call that `user_content` answers; None if it answers none.
    """

    resumed_id: str | None = None
    message: types.Content | None = None
    user_content: types.Content | None = None
    asked_by: Event | None = None

    @classmethod
    def of(cls, session: Session, resumed_id: str | None, message: types.Content | None) -> Start:
        """Return the start of a run that continues an invocation, commits a message, or both."""
        first = message or (first_message(session.events, resumed_id) if resumed_id else None)
        return cls(resumed_id, message, first, call_event(session.events, answered_calls(first)))


def start_of(root: BaseAgent, session: Session, invocation_id: str | None, message: types.Content | None, *, is_resumable: bool) -> Start:
    """Return what a run starts or resumes.

    Args:
        root: the root of the agent tree. An `LlmAgent` can also run without a message: its model continues from the session's events.
        session: the session.
        invocation_id: the requested invocation.
        message: the user's message; a function response belongs to the invocation of its call.
        is_resumable: whether the app is resumable.

    Raises:
        TypeError: the message is not a `types.Content`, such as a plain string.
        ResumeError: there is nothing to run or to resume; the text says why.
    """
    if message is None:
        return Start.of(session, _resumed_without_message(root, session, invocation_id, is_resumable=is_resumable), None)
    if not isinstance(message, types.Content):
        raise TypeError(f"new_message must be a types.Content, such as types.UserContent('hello'), not {type(message).__name__}.")
    start = Start.of(session, None, with_call_ids(message, session.events))
    answered = answered_calls(start.message)
    if answered and start.asked_by is None:
        raise ResumeError(f"No function call in session {session.id} has the id {', '.join(sorted(answered))} that the response is for.")
    if not is_resumable:
        return start
    if start.asked_by is not None:
        return replace(start, resumed_id=start.asked_by.invocation_id)
    is_known = invocation_id is not None and events_of(session.events, invocation_id)
    return replace(start, resumed_id=invocation_id) if is_known else start  # else the caller chose the id of a new invocation


def _resumed_without_message(root: BaseAgent, session: Session, invocation_id: str | None, *, is_resumable: bool) -> str | None:
    if invocation_id is None and session.events and hasattr(root, "canonical_model"):
        return None
    if not is_resumable:
        raise ResumeError(
            f"Running an agent requires a new_message or a resumable app. Session: {session.id}, user: {session.user_id}. To resume"
            " invocations, make the app with ResumabilityConfig(is_resumable=True)."
        )
    if invocation_id is None:
        raise ResumeError(
            "Running an agent requires either a new_message or an invocation_id to resume a previous invocation."
            f" Session: {session.id}, user: {session.user_id}."
        )
    _check_can_resume(session, invocation_id)
    return invocation_id


def _check_can_resume(session: Session, invocation_id: str) -> None:
    if not session.events:
        raise ResumeError(f"Session {session.id} has no events to resume.")
    if first_message(session.events, invocation_id) is None:
        why = f"Session {session.id} has no such invocation."
    elif not events_of(without_rewound(session.events), invocation_id):
        why = "A rewind took it back."
    else:
        return
    raise ResumeError(f"No user message available for resuming invocation: {invocation_id}. {why}")


def restore_invocation(ctx: InvocationContext) -> None:
    """Fill the context of a resumed invocation with each agent's progress."""
    past = ctx.invocation_events()
    if past:
        found = read_checkpoints(past, ctx.places)
        ctx.shared.resumed = found
        ctx.shared.has_resumed_mark = False
        ctx.agent_states.update(found.states)
        ctx.end_of_agents.update(found.ended)
        ctx.shared.positions.update(found.positions)


async def message_event(ctx: InvocationContext, message: types.Content, state_delta: Mapping[str, Any] | None) -> Event:
    """Return the event with the user's message; an answer to a call has the branch of that call.

    Args:
        ctx: the invocation.
        message: the user's message. The role defaults to `user`; files in it are saved as artifacts if the run's settings ask for it.
        state_delta: state changes committed with the message.

    Raises:
        ValueError: the message has no parts, or a function call.
    """
    if not message.parts:
        raise ValueError("The new_message has no parts; give it at least one, such as types.Part(text=…).")
    if any(part.function_call for part in message.parts):
        raise ValueError("A new_message cannot contain function calls: only models make them. Answer a call with a function response.")
    if message.role is None:
        message = message.model_copy(update={"role": "user"})
    actions = EventActions(state_delta=dict(state_delta or {}))
    if ctx.artifact_service and ctx.run_config and ctx.run_config.save_input_blobs_as_artifacts:
        message = await _with_saved_files(message, CallbackContext(ctx, event_actions=actions))
    asked_by = ctx.shared.asked_by
    branch = asked_by.branch if asked_by else None
    return Event(invocation_id=ctx.invocation_id, author="user", content=message, branch=branch, actions=actions)


async def _with_saved_files(message: types.Content, context: CallbackContext) -> types.Content:
    """Save a message's files as artifacts, and return the message with each file replaced by its name, which is google-adk's."""
    parts = list(message.parts or [])
    for index, part in enumerate(parts):
        if part.inline_data is not None:
            name = f"artifact_{context.invocation_id}_{index}"
            await context.save_artifact(name, part)
            parts[index] = types.Part(text=f"Uploaded file: {name}. It is saved into artifacts")
    return message.model_copy(update={"parts": parts})


def agent_to_run(root: BaseAgent, ctx: InvocationContext) -> BaseAgent:
    """Return the first agent: the root if it is being resumed, else the agent that asked or spoke last, else the root.

    An agent that asked continues on its branch, which becomes that of the context.

    Args:
        root: the root of the agent tree.
        ctx: the invocation; its user message is committed. It gets the branch of an agent that asked.
    """
    if not root.sub_agents or ctx.places.key(root) in ctx.end_of_agents:
        return root
    asked_by = ctx.shared.asked_by
    if asked_by is not None:
        asker = _author(asked_by, root, ctx)
        if asker is not None:
            ctx.branch = asked_by.branch
        return asker or root
    for event in reversed(without_rewound(ctx.session.events)):
        if event.author == "user" or event.actions.agent_state is not None or event.actions.end_of_agent:
            continue
        agent = _author(event, root, ctx)
        if agent is not None and _is_reachable_by_transfer(agent):
            return agent
    return root


def _author(event: Event, root: BaseAgent, ctx: InvocationContext) -> BaseAgent | None:
    """Return the agent, at or below the root of the run, that an event is from; None if it is from no such agent."""
    agent = ctx.places.find(event)
    return agent if isinstance(agent, BaseAgent) and root in (agent, *agent.ancestors()) else None


def with_call_ids(message: types.Content | None, events: Sequence[Event]) -> types.Content | None:
    """Return a message whose function responses name their calls.

    A response without an id answers the first open call of its function in the newest event that has one.
    """
    parts = (message.parts if isinstance(message, types.Content) else None) or []
    if message is None or all(part.function_response is None or part.function_response.id for part in parts):
        return message
    current = without_rewound(events)
    taken = {response.id for event in current if event.author == "user" for response in event.get_function_responses()}
    named = []
    for part in parts:
        response = part.function_response
        if response is not None and not response.id:
            calls = [call for event in reversed(current) for call in event.get_function_calls() if call.name == response.name]
            call = next((call for call in calls if call.id not in taken), calls[0] if calls else None)
            if call is not None:
                taken.add(call.id)
                part = part.model_copy(update={"function_response": response.model_copy(update={"id": call.id})})
        named.append(part)
    return message.model_copy(update={"parts": named})


def answered_calls(message: types.Content | None) -> set[str]:
    """Return the ids of the calls that a message's function responses answer."""
    return {
        part.function_response.id
        for part in (message.parts if message else None) or []
        if part.function_response and part.function_response.id
    }


def call_event(events: Sequence[Event], call_ids: set[str]) -> Event | None:
    """Return the newest event that made one of these calls and was not taken back by a rewind."""
    for event in reversed(without_rewound(events)) if call_ids else ():
        if any(call.id in call_ids for call in event.get_function_calls()):
            return event
    return None


def first_message(events: Sequence[Event], invocation_id: str) -> types.Content | None:
    """Return the message that started an invocation."""
    for event in events_of(events, invocation_id):
        if event.author == "user" and event.content:
            return event.content
    return None


def _is_reachable_by_transfer(agent: BaseAgent) -> bool:
    """Return whether every agent up to the root is an LlmAgent that allows transfers."""
    up: Iterable[BaseAgent] = (agent, *agent.ancestors())
    return all(hasattr(above, "disallow_transfer_to_parent") and not above.disallow_transfer_to_parent for above in up)
