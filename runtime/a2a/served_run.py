"""One request to a served agent: a run of the agent, told as the protocol's task. Loading this module loads the package a2a-sdk."""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import Any

from a2a import types as a2a
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from google.genai import types

from runtime.agents.a2a_events import as_list
from runtime.events.event import Event
from runtime.events.marks import CREDENTIAL_CALL
from runtime.runners import Runner
from runtime.sessions.session import Session
from runtime.support.a2a_messages import LONG_RUNNING, MARK, as_struct, state_named, to_a2a_part, to_genai_part
from runtime.support.ids import new_uuid
from runtime.support.texts import text_of

logger = logging.getLogger(__name__)

_WORKING, _FAILED = state_named("working"), state_named("failed")
_RANK = {_WORKING: 0, state_named("input_required"): 1, state_named("auth_required"): 2, _FAILED: 3}


class ServedRun(AgentExecutor):  # type: ignore[misc]  # mypy does not read the package
    """Runs the agent for each request, in the session of the request's context.

    Args:
        runner: runs the agent.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run the agent and report what it says. An agent that fails is a failed task.

        Args:
            context: the request.
            event_queue: takes the task's updates.
        """
        if context.current_task is None:
            history = [context.message] if context.message else []
            task = a2a.Task(id=context.task_id, context_id=context.context_id, status=_status(state_named("submitted")), history=history)
            await event_queue.enqueue_event(task)
        try:
            await self._run(context, event_queue)
        except Exception as error:  # the agent's code can raise any
            logger.exception("The agent %s failed while it was asked over A2A.", self._runner.agent.name)
            await event_queue.enqueue_event(_update(context, _FAILED, _said(text_of(error) or type(error).__name__)))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Report a cancelled task; the run has been cancelled.

        Args:
            context: the request.
            event_queue: takes the task's update.
        """
        await event_queue.enqueue_event(_update(context, state_named("canceled")))

    async def _run(self, context: RequestContext, event_queue: EventQueue) -> None:
        session = await self._session_of(context)
        place = {"app_name": session.app_name, "user_id": session.user_id, "session_id": session.id}
        await event_queue.enqueue_event(_update(context, _WORKING, marks=place))
        message, state, last = None, _WORKING, None
        parts = [part for given in (context.message.parts if context.message else []) if (part := to_genai_part(given)) is not None]
        content = types.Content(role="user", parts=parts)
        async with aclosing(self._runner.run_async(user_id=session.user_id, session_id=session.id, new_message=content)) as events:
            async for event in events:
                last = event
                for told, its_state in _told(event):
                    if _RANK[its_state] > _RANK[state] or its_state == state == _WORKING:
                        state, message = its_state, told
                    await event_queue.enqueue_event(_update(context, _WORKING, told, {**place, **_facts(event)}))
        marks = {**place, **({"invocation_id": last.invocation_id, "author": last.author, "event_id": last.id} if last else {})}
        if state == _WORKING and message is not None:
            await event_queue.enqueue_event(_artifact(context, message, marks))
        final = _update(context, state_named("completed"), None, marks) if state == _WORKING else _update(context, state, message, marks)
        await event_queue.enqueue_event(final)

    async def _session_of(self, context: RequestContext) -> Session:
        """Return the session of a request's context; the user is who the server has authenticated, or the context itself."""
        user = context.call_context.user if context.call_context else None
        user_id = user.user_name if user and user.is_authenticated and user.user_name else f"A2A_USER_{context.context_id}"
        key: dict[str, Any] = {"app_name": self._runner.app_name, "user_id": user_id, "session_id": context.context_id}
        service = self._runner.session_service
        return await service.get_session(**key) or await service.create_session(**key)


def _told(event: Event) -> list[tuple[Any, Any]]:
    """Return an event's messages, each with the state that it puts the task in."""
    told = []
    if event.error_code:
        text = event.error_message or "An error occurred during processing"
        told.append((_said(text, {"error_code": str(event.error_code)}), _FAILED))
    parts = []
    for part in (event.content and event.content.parts) or []:
        for converted in as_list(to_a2a_part(part)):
            if part.function_call and part.function_call.id in (event.long_running_tool_ids or ()):
                converted.metadata[LONG_RUNNING] = True
            parts.append(converted)
    if parts:
        role = "ROLE_USER" if event.author == "user" else "ROLE_AGENT"
        waiting = [call.name for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ())]
        state = state_named("auth_required" if CREDENTIAL_CALL in waiting else "input_required") if waiting else _WORKING
        told.append((a2a.Message(message_id=new_uuid(), role=role, parts=parts), state))
    return told


def _facts(event: Event) -> dict[str, Any]:
    """Return what google-adk tells of an event beside its content."""
    facts = {"invocation_id": event.invocation_id, "author": event.author, "event_id": event.id}
    optional: dict[str, Any] = {"branch": event.branch, "error_code": event.error_code and str(event.error_code)}
    for name in ("actions", "usage_metadata", "grounding_metadata"):
        value = getattr(event, name)
        optional[name] = value and value.model_dump(mode="json", exclude_none=True, by_alias=True)
    return {**facts, **{name: value for name, value in optional.items() if value is not None}}


def _said(text: str, marks: dict[str, Any] | None = None) -> Any:
    metadata = _marked(marks) if marks else None
    return a2a.Message(message_id=new_uuid(), role="ROLE_AGENT", parts=[a2a.Part(text=text)], metadata=metadata)


def _update(context: RequestContext, state: Any, message: Any = None, marks: dict[str, Any] | None = None) -> Any:
    update = a2a.TaskStatusUpdateEvent(task_id=context.task_id, context_id=context.context_id, status=_status(state, message))
    if marks:
        update.metadata.CopyFrom(_marked(marks))
    return update


def _status(state: Any, message: Any = None) -> Any:
    status = a2a.TaskStatus(state=state, message=message)
    status.timestamp.GetCurrentTime()
    return status


def _artifact(context: RequestContext, message: Any, marks: dict[str, Any]) -> Any:
    artifact = a2a.Artifact(artifact_id=new_uuid(), parts=message.parts)
    update = a2a.TaskArtifactUpdateEvent(task_id=context.task_id, context_id=context.context_id, artifact=artifact, last_chunk=True)
    update.metadata.CopyFrom(_marked(marks))
    return update


def _marked(marks: dict[str, Any]) -> Any:
    return as_struct({f"{MARK}{name}": value for name, value in marks.items()})
