"""An agent as a tool of another agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal

from google.genai import types
from pydantic import ValidationError

from runtime.contexts.context import ServiceMissingError, ToolContext
from runtime.events.event import Event
from runtime.history.agent_tree import AgentTree
from runtime.sessions.session import Session
from runtime.sessions.state import State
from runtime.tools.base_tool import BaseTool
from runtime.tools.forwarding_artifact_service import ForwardingArtifactService
from runtime.tools.function_declaration import declare
from runtime.tools.function_signature import Argument, arguments_of
from runtime.tools.inner_runs import InnerPause, InnerSessions, kept_run, open_questions

_REQUEST = Argument("request", str, Argument.REQUIRED)
_NOT_PASSED = ("_adk", State.TEMP_PREFIX)  # prefixes of the caller's state that its agents as tools do not see
GROUNDING_KEY = "temp:_adk_grounding_metadata"  # google-adk's key, which callbacks of agents read


class AgentTool(BaseTool):
    """A tool by which a model calls an agent as it calls a function.

    The agent runs in its own in-memory session, which begins with the caller's state and ends with the call. State that it commits becomes
    part of the response's `state_delta`, except for `temp:` keys, which neither sees of the other; files that it saves are the caller's.
    Its run is part of the caller's invocation: same invocation id, same settings, one count of model calls.

    If it waits for the user, its caller asks in its place and waits too; the answer continues its run (`inner_runs`).

    The agent's events are not stored, except while it waits. The plugins of the outermost run see each of them in
    `BasePlugin.on_inner_event_callback`, and the agent continues when they have returned. A debugger shows and holds the events there.

    Attributes:
        agent: the agent to call.
        skip_summarization: the agent's answer is final: the response's event has it as a text too, and the caller's model is not called
            again.
        include_plugins: the caller's plugins also receive all other hooks of the agent's run.
        propagate_grounding_metadata: the sources of the agent's answer become those of the caller's next answers in this invocation.
    """

    def __init__(
        self,
        agent: AgentTree,
        skip_summarization: bool = False,
        *,
        include_plugins: bool = True,
        propagate_grounding_metadata: bool = False,
    ) -> None:
        super().__init__(name=agent.name, description=agent.description)
        self.agent = agent
        self.skip_summarization = skip_summarization
        self.include_plugins = include_plugins
        self.propagate_grounding_metadata = propagate_grounding_metadata

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        schema = _schema(self.agent, "input_schema")
        return declare(self.name, self.description, [_REQUEST] if schema is None else arguments_of(schema))

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the agent; see `BaseTool.run_async`.

        Returns:
            The agent's last answer, in the shape of its `output_schema` if it has one. A dict with `error` if the arguments do not fit, or
            if the agent's model refused.

        Raises:
            ServiceMissingError: no Runner made the context.
            InnerPause: the agent waits for an answer.
            ToolError: it waits, or waited, and cannot continue.
            Exception: any exception of the agent.
        """
        try:
            request = self._request(args)
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
            return {"error": f"{self.name} was not called: its arguments do not fit: {problems}. Try again."}
        if request is None:
            return {"error": f"{self.name} was not called: the argument `request` is missing. Try again with it."}
        if self.skip_summarization:
            tool_context.actions.skip_summarization = True
        last: Event | None = None
        outer = tool_context._invocation_context
        kept = kept_run(outer, tool_context.function_call_id, self.name, request)
        service = InnerSessions(tool_context, self.name, request, kept)
        session = await _inner_session(service, tool_context)
        for event in kept.events if kept is not None else ():
            await service.append_event(session, event)
            _forward_state(event, tool_context.state)
        message = types.Content(role="user", parts=[types.Part(text=request)]) if kept is None else kept.message
        async with aclosing(self._run(message, tool_context, service, session)) as events:
            async for event in events:
                _forward_state(event, tool_context.state)
                last = event if (event.content or event.error_code) and not event.partial else last
        waiting = open_questions(session.events, is_resumable=outer.is_resumable)
        if waiting:
            questions = [call for call in waiting if kept is None or call.id not in kept.asked]
            tool_context.inner_pause = InnerPause(self.name, waiting, questions, service.unkept(session))
            raise tool_context.inner_pause
        if self.propagate_grounding_metadata and last is not None and last.grounding_metadata:
            tool_context.state[GROUNDING_KEY] = last.grounding_metadata
        return self._answer(last)

    def _request(self, args: dict[str, Any]) -> str | None:
        schema = _schema(self.agent, "input_schema")
        if schema is None:
            return None if args.get("request") is None else str(args["request"])
        return schema.model_validate(args).model_dump_json(exclude_none=True)  # type: ignore[no-any-return]

    def _run(
        self, message: types.Content | None, tool_context: ToolContext, service: InnerSessions, session: Session
    ) -> AsyncGenerator[Event, None]:
        outer = tool_context._invocation_context
        if outer.shared.inner_run is None:
            raise ServiceMissingError(f"{self.name} cannot run: an AgentTool needs the Runner: import runtime.runners first.")
        return outer.shared.inner_run(
            outer,
            agent=self.agent,
            call_id=tool_context.function_call_id,
            plugins=outer.plugin_manager.plugins if self.include_plugins else (),
            session_service=service,
            session=session,
            artifact_service=ForwardingArtifactService(tool_context) if outer.artifact_service is not None else None,
            new_message=message,
        )

    def _answer(self, last: Event | None) -> Any:
        if last is None:
            return ""
        if last.error_code and not last.content:
            return {"error": f"{self.name} failed with {last.error_code}: {last.error_message or 'no more is known'}"}
        parts = (last.content.parts if last.content else None) or []
        text = "\n".join(filter(None, (_text_of(part) for part in parts if not part.thought)))
        agent = _speaker(self.agent, "output_schema")
        return agent._validated(text) if agent is not None and text.strip() else text


def _text_of(part: types.Part) -> str | None:
    """Return a part's text, code or result of code."""
    if part.executable_code is not None:
        return part.executable_code.code
    if part.code_execution_result is not None:
        return (part.code_execution_result.output or "").rstrip("\n")
    return part.text


async def _inner_session(service: InnerSessions, tool_context: ToolContext) -> Session:
    state = {key: value for key, value in tool_context.state.to_dict().items() if not key.startswith(_NOT_PASSED)}
    return await service.create_session(app_name=tool_context.session.app_name, user_id=tool_context.user_id, state=state)


def _forward_state(event: Event, state: State) -> None:
    """Write an inner event's committed changes to the caller's state; they are without `temp:` keys."""
    if not event.partial and event.actions.state_delta:
        state.update(event.actions.state_delta)


def _schema(agent: AgentTree, field: Literal["input_schema", "output_schema"]) -> Any:
    speaker = _speaker(agent, field)
    return getattr(speaker, field) if speaker is not None else None


def _speaker(agent: AgentTree, field: Literal["input_schema", "output_schema"]) -> Any:
    """Return the LlmAgent that a workflow agent begins or ends with, if it has the schema."""
    while not hasattr(agent, field):
        if not agent.sub_agents:
            return None
        agent = agent.sub_agents[0 if field == "input_schema" else -1]
    return agent if getattr(agent, field) is not None else None
