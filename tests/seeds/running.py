"""Helpers that create a Runner with a scripted agent and run it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any, cast

from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event
from runtime.models.scripted_llm import ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import BaseSessionService, InMemorySessionService, Session
from tests.agent_specs import message

Body = Callable[[BaseAgent, InvocationContext], AsyncGenerator[Event, None]]


class Scripted(BaseAgent):
    """An agent whose implementation is a function of the test."""

    body: Any

    def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        return cast("AsyncGenerator[Event, None]", self.body(self, ctx))


def scripted(body: Body, name: str = "agent") -> Scripted:
    """Return an agent with `body` as its implementation."""
    return Scripted(name=name, body=body)


def runner_for(agent: BaseAgent, service: BaseSessionService | None = None, *, resumable: bool = False, **more: Any) -> Runner:
    """Return a Runner for the app `app`, which creates missing sessions."""
    config = ResumabilityConfig(is_resumable=resumable)
    app = App(name="app", root_agent=agent, resumability_config=config, plugins=more.pop("plugins", []))
    return Runner(app=app, session_service=service or InMemorySessionService(), auto_create_session=True, **more)


async def run(runner: Runner, text: str | None = "go", **more: Any) -> list[Event]:
    """Run once in session `s` of user `u` and return the yielded events."""
    new_message = message(text) if text is not None else None
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=new_message, **more)]


async def stored(runner: Runner) -> Session:
    """Return session `s` as it is stored."""
    session = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    assert session is not None
    return session


def texts(events: list[Event]) -> list[str]:
    """Return the texts of events."""
    return [part.text for event in events for part in (event.content.parts if event.content else None) or [] if part.text]


def said(agent: BaseAgent, text: str, **more: Any) -> Event:
    return Event(author=agent.name, content=types.Content(role="model", parts=[types.Part(text=text)]), **more)


class Recording(InMemorySessionService):
    """Records each commit, and fails for the texts in `fails`."""

    def __init__(self) -> None:
        super().__init__()
        self.journal: list[str] = []
        self.fails: set[str] = set()

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        text = texts([event])[0] if texts([event]) else "?"
        if text in self.fails:
            raise OSError("the disk is full")
        await super()._commit(session, event, temp)
        self.journal.append(f"committed {text}")


def llm_agent(name: str, *replies: Any, tools: list[Any] | None = None, **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=list(replies)), tools=tools or [], **more)


def answer(call_id: str | None, name: str, response: dict[str, Any]) -> types.Content:
    part = types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=response))
    return types.Content(role="user", parts=[part])


async def resume(runner: Runner, new_message: types.Content | None = None) -> list[Event]:
    """Resume the session's newest invocation."""
    invocation_id = (await stored(runner)).events[-1].invocation_id
    stream = runner.run_async(user_id="u", session_id="s", invocation_id=invocation_id, new_message=new_message)
    return [event async for event in stream]


def results(events: list[Event]) -> list[tuple[str | None, Any]]:
    return [(response.name, response.response) for event in events for response in event.get_function_responses()]
