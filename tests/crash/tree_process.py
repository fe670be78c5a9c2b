"""A process that runs or resumes an agent tree to its end or until its fault, and answers pending items."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, RunConfig, ToolContext
from runtime.agents.run_config import StreamingMode
from runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes, OAuth2Auth
from runtime.events import Event
from runtime.history.invocations import PendingItem, invocations
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.models.scripted_llm import ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import DatabaseSessionService, Session
from runtime.tools import AgentTool, FunctionTool, LongRunningFunctionTool
from tests.agent_specs import TOOLS, build_agent, message
from tests.crash import faults
from tests.seeds.running import runner_for

IDS: dict[str, str] = {"app_name": "app", "user_id": "u", "session_id": "s"}
_FLOW = {"authorizationUrl": "https://idp/auth", "tokenUrl": "https://idp/token", "scopes": {"files": "all of them"}}
SCHEME = {"type": "oauth2", "flows": {"authorizationCode": _FLOW}}
LOGIN = AuthConfig(
    auth_scheme=SCHEME,
    raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.OAUTH2, oauth2=OAuth2Auth(client_id="me", client_secret="hidden")),
)


class FaultyService(DatabaseSessionService):
    """A session service on a file, with faults before and after each commit."""

    async def append_event(self, session: Session, event: Event) -> Event:
        """See `BaseSessionService.append_event`."""
        faults.reach("before commit")
        committed = await super().append_event(session, event)
        faults.reach("after commit")
        return committed


class FaultyLlm(ScriptedLlm):
    """A scripted model, with a fault before each chunk of an answer."""

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """See `BaseLlm.generate_content_async`."""
        async with aclosing(super().generate_content_async(llm_request, stream=stream)) as responses:
            async for response in responses:
                faults.reach("model")
                yield response


class World:
    """The side effects of tools: lines of a file, which survive the process.

    Args:
        file: the file.
    """

    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def change(self, tool: str, what: str, tool_context: ToolContext) -> None:
        """Record an irreversible side effect, with faults before and after it."""
        faults.reach("tool begins")
        outer, call_id = tool_context._invocation_context.shared.outer, tool_context.function_call_id
        line = {"tool": tool, "what": what, "call": call_id, "inside": outer[1] if outer else call_id, "process": os.getpid()}
        os.write(self._file, f"{json.dumps(line)}\n".encode())
        os.fsync(self._file)
        tool_context.state[f"{tool}_{what}"] = True
        tool_context.state[f"user:{tool}_{what}"] = True
        faults.reach("tool did it")

    def tools(self) -> dict[str, Any]:
        """Return the tools of `tests.crash.trees` by name."""

        async def note(what: str, tool_context: ToolContext) -> dict[str, str]:
            """Notes something down."""
            self.change("note", what, tool_context)
            return {"noted": what}

        async def order(what: str, tool_context: ToolContext) -> dict[str, str]:
            """Orders something; the answer comes later."""
            self.change("order", what, tool_context)
            return {"status": "pending"}

        async def silent_order(what: str, tool_context: ToolContext) -> None:
            """Orders something and says nothing."""
            self.change("silent_order", what, tool_context)

        async def pay(what: str, tool_context: ToolContext) -> dict[str, str]:
            """Pays, once it was confirmed."""
            self.change("pay", what, tool_context)
            return {"paid": what}

        async def ask_first(what: str, tool_context: ToolContext) -> dict[str, str]:
            """Asks for a confirmation itself, and remembers that it asked."""
            if tool_context.tool_confirmation is None:
                tool_context.state[f"asked_{what}"] = True
                tool_context.request_confirmation(hint=f"Really {what}?")
                return {"status": "asked"}
            self.change("ask_first", what, tool_context)
            return {"status": "done"}

        async def log_in(what: str, tool_context: ToolContext) -> dict[str, str]:
            """Needs a credential."""
            if tool_context.get_auth_response(LOGIN) is None:
                tool_context.request_credential(LOGIN)
                return {"status": "login needed"}
            self.change("log_in", what, tool_context)
            return {"status": "in"}

        return {
            "note": FunctionTool(note),
            "order": LongRunningFunctionTool(order),
            "silent_order": LongRunningFunctionTool(silent_order),
            "pay": FunctionTool(pay, require_confirmation=True),
            "ask_first": FunctionTool(ask_first),
            "log_in": FunctionTool(log_in),
            "leave_loop": TOOLS["leave_loop"],
        }


def faulty_agent(spec: dict[str, Any], world: World) -> BaseAgent:
    """Build a tree with fault places in its agents and callbacks."""
    root = build_agent(spec, world.tools(), FaultyLlm)
    marked = {agent["name"] for agent in _specs(spec) if agent.get("marks")}
    for agent in _agents(root):
        _add_callbacks(agent, writes=agent.name in marked)
        _fail_between_events(agent)
    return root


def _specs(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield spec
    for sub in [*spec.get("sub_agents", []), *spec.get("agent_tools", [])]:
        yield from _specs(sub)


def _agents(root: BaseAgent) -> Iterator[BaseAgent]:
    for agent in (root, *root.descendants()):
        yield agent
        for tool in getattr(agent, "tools", ()):
            if isinstance(tool, AgentTool):
                yield from _agents(tool.agent)


def _add_callbacks(agent: BaseAgent, *, writes: bool) -> None:
    def callback(hook: str) -> Callable[..., Awaitable[None]]:
        async def called(callback_context: Any = None, tool_context: Any = None, **_: Any) -> None:
            faults.reach("callback")
            if writes:
                (callback_context or tool_context).state[f"{agent.name}_{hook}"] = True

        return called

    hooks = ["before_agent_callback", "after_agent_callback"]
    if isinstance(agent, LlmAgent):
        hooks += ["before_model_callback", "after_model_callback", "before_tool_callback", "after_tool_callback"]
    for hook in hooks:
        setattr(agent, hook, callback(hook))


def _fail_between_events(agent: BaseAgent) -> None:
    """Add a fault place to the agent's own code after each of its events, including forwarded ones."""
    implementation = agent._run_async_impl

    async def run(ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        async with aclosing(implementation(ctx)) as events:
            event = await anext(events, None)
            while event is not None:
                try:
                    yield event
                except Exception as error:  # the agent itself handles a failed commit
                    event = await events.athrow(error)
                    continue
                faults.reach("agent continues")
                event = await anext(events, None)

    object.__setattr__(agent, "_run_async_impl", run)


async def drive(folder: Path, spec: dict[str, Any]) -> None:
    """Begin or resume a tree's run in a folder, answer its pending items one by one, and return at its end.

    Raises:
        InjectedCrash: the planned fault.
    """
    async with FaultyService(f"sqlite:///{folder / 'sessions.db'}") as service:
        await drive_with(service, folder, spec)


async def drive_with(service: DatabaseSessionService, folder: Path, spec: dict[str, Any]) -> None:
    """Do the same as `drive`, with a service that may have been used before."""
    runner = runner_for(faulty_agent(spec, World(folder / "world")), service, resumable=True)
    config = RunConfig(streaming_mode=StreamingMode.SSE if spec.get("streaming") else StreamingMode.NONE)
    session = await service.get_session(**IDS)
    if session is None or not session.events:
        await _run(runner, config, new_message=message("go"))
    else:
        await _run(runner, config, invocation_id=session.events[0].invocation_id)
    answered: set[str | None] = set()
    while True:
        session = await service.get_session(**IDS)
        assert session is not None
        (invocation,) = invocations(session.events)
        if invocation.status != "paused":
            return
        item = invocation.pending[0]
        assert item.call_id not in answered, f"{item} is pending although it was answered"
        answered.add(item.call_id)
        await _run(runner, config, new_message=answer_to(item, session))


async def _run(runner: Runner, config: RunConfig, **more: Any) -> None:
    async with aclosing(runner.run_async(user_id="u", session_id="s", run_config=config, **more)) as events:
        async for _ in events:
            faults.reach("consumer leaves")


def answer_to(item: PendingItem, session: Session) -> types.Content:
    """Return the user's answer to a pending item."""
    (call,) = [call for event in session.events for call in event.get_function_calls() if call.id == item.call_id]
    response: dict[str, Any] = {"status": "delivered"}
    if item.kind == "confirmation":
        response = {"confirmed": True}
    elif item.kind == "credential":
        response = dict((call.args or {})["authConfig"])
        response["exchangedAuthCredential"] = {"authType": "oauth2", "oauth2": {"clientId": "me", "accessToken": "token"}}
    part = types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))
    return types.Content(role="user", parts=[part])
