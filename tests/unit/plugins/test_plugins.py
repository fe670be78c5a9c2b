"""Plugin hooks: their arguments, the effect of their return values, and their errors."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, SequentialAgent
from runtime.events import Event
from runtime.models import LlmResponse, ScriptedLlm
from runtime.models.scripted_llm import Reply
from runtime.plugins import BasePlugin, LoggingPlugin, PluginManager
from runtime.plugins.plugin_manager import PluginError
from runtime.runners import Runner
from tests.seeds.running import run, runner_for, stored, texts

NOTICES = ["on_agent_error_callback", "on_run_error_callback"]
ALL_HOOKS = [name for name, _ in inspect.getmembers(BasePlugin, inspect.isfunction) if name.endswith("_callback") and "inner" not in name]
HOOKS = sorted(set(ALL_HOOKS) - set(NOTICES))


def said(text: str) -> types.Content:
    return types.Content(role="model", parts=[types.Part(text=text)])


class Hooked(BasePlugin):
    """Records the called hooks, and returns a value or raises in one of them."""

    def __init__(self, hook: str = "", answer: Any = None, error: Exception | None = None, name: str = "hooked") -> None:
        super().__init__(name)
        self.called: list[str] = []
        self.seen: dict[str, dict[str, Any]] = {}
        self._taken, self._answer, self.error = hook, answer, error

    async def _note(self, hook: str, arguments: dict[str, Any]) -> Any:
        self.called.append(hook)
        self.seen[hook] = arguments
        if hook == self._taken and self.error is not None:
            raise self.error
        return self._answer if hook == self._taken else None


def _taker(hook: str) -> Any:
    async def taken(self: Hooked, **arguments: Any) -> Any:
        return await self._note(hook, arguments)

    return taken


for hook in ALL_HOOKS:
    setattr(Hooked, hook, _taker(hook))


def works() -> dict[str, bool]:
    """Works."""
    return {"ok": True}


def breaks() -> None:
    """Breaks."""
    raise ValueError("broken tool")


def busy_agent(**more: Any) -> LlmAgent:
    """Return an agent that calls a working tool and a failing tool, whose model fails once, and which then answers."""
    failing = [Reply(calls=[("works", {})]), Reply(calls=[("breaks", {})]), ValueError("broken model")]
    replies = [reply if not isinstance(reply, Exception) else _raising(reply) for reply in failing]
    handlers: dict[str, Any] = {
        "on_tool_error_callback": lambda tool, args, tool_context, error: {"error": str(error)},
        "on_model_error_callback": lambda callback_context, llm_request, error: LlmResponse(content=said("recovered")),
    }
    return LlmAgent(name="busy", model=ScriptedLlm(replies=replies), tools=[works, breaks], **{**handlers, **more})


def _raising(error: Exception) -> Any:
    def reply(request: Any) -> Reply:
        raise error

    return reply


async def test_hooks_are_called_in_order() -> None:
    plugin = Hooked()
    await run(runner_for(busy_agent(), plugins=[plugin]))
    model_call = ["before_model_callback", "after_model_callback", "on_event_callback"]
    assert plugin.called == [
        "on_user_message_callback",
        "before_run_callback",
        "before_agent_callback",
        *model_call,
        *["before_tool_callback", "after_tool_callback", "on_event_callback"],
        *model_call,
        *["before_tool_callback", "on_tool_error_callback", "after_tool_callback", "on_event_callback"],
        *["before_model_callback", "on_model_error_callback", "after_model_callback", "on_event_callback"],
        "after_agent_callback",
        "after_run_callback",
    ]
    assert sorted(set(plugin.called)) == HOOKS
    arguments = {name: sorted(inspect.signature(getattr(BasePlugin, name)).parameters.keys() - {"self"}) for name in HOOKS}
    assert {name: sorted(given) for name, given in plugin.seen.items()} == arguments


@pytest.mark.parametrize(
    ("hook", "answer", "heard"),
    [
        ("on_user_message_callback", types.Content(role="user", parts=[types.Part(text="changed")]), ["changed", "recovered"]),
        ("before_run_callback", said("closed"), ["go", "closed"]),
        ("before_agent_callback", said("not now"), ["go", "not now"]),
        ("after_agent_callback", said("and more"), ["go", "recovered", "and more"]),
        ("before_model_callback", LlmResponse(content=said("instead")), ["go", "instead"]),
        ("after_model_callback", LlmResponse(content=said("replaced")), ["go", "replaced"]),
        ("on_model_error_callback", LlmResponse(content=said("mended")), ["go", "mended"]),
        ("on_event_callback", Event(author="busy", content=said("another")), ["go", "another"]),
    ],
)
async def test_a_hooks_return_value_replaces_the_original(hook: str, answer: Any, heard: list[str]) -> None:
    agent = LlmAgent(name="busy", model=ScriptedLlm(replies=["x"])) if hook == "on_event_callback" else busy_agent()
    runner = runner_for(agent, plugins=[Hooked(hook, answer)])
    await run(runner)
    assert texts((await stored(runner)).events) == heard


@pytest.mark.parametrize(
    ("hook", "results"),
    [
        ("before_tool_callback", [{"from": "plugin"}, {"from": "plugin"}]),
        ("after_tool_callback", [{"from": "plugin"}, {"from": "plugin"}]),
        ("on_tool_error_callback", [{"ok": True}, {"from": "plugin"}]),
    ],
)
async def test_a_hooks_return_value_becomes_the_tools_result(hook: str, results: list[Any]) -> None:
    runner = runner_for(busy_agent(), plugins=[Hooked(hook, {"from": "plugin"})])
    events = await run(runner)
    assert [response.response for event in events for response in event.get_function_responses()] == results


@pytest.mark.rule("R11")
async def test_the_first_return_value_skips_later_plugins_and_the_agents_callbacks() -> None:
    asked: list[str] = []
    first, second, third = Hooked(name="1"), Hooked("before_agent_callback", said("second"), name="2"), Hooked(name="3")
    agent = busy_agent(before_agent_callback=lambda callback_context: asked.append("own"))
    runner = runner_for(agent, plugins=[first, second, third])
    assert texts(await run(runner)) == ["second"]
    assert "before_agent_callback" in first.called
    assert "before_agent_callback" not in third.called
    assert asked == []


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_failing_plugin_is_reported_and_the_run_can_be_resumed(hook: str) -> None:
    """A plugin's error does not corrupt the session."""
    plugin = Hooked(hook, error=RuntimeError("plugin bug"))
    runner = runner_for(busy_agent(), plugins=[plugin], resumable=True)
    with pytest.raises(PluginError, match=f"hooked.*{hook}|{hook}.*hooked") as caught:
        await run(runner)
    assert isinstance(caught.value.__cause__, RuntimeError)
    events = (await stored(runner)).events
    assert (hook == "on_user_message_callback") is (events == [])
    plugin.error = None
    if events:
        await run(runner, None, invocation_id=events[0].invocation_id)
    else:
        await run(runner)
    session = await stored(runner)
    assert session.events[: len(events)] == events
    assert texts(session.events)[-1] == "recovered"
    assert [event.actions.end_of_agent for event in session.events].count(True) == 1
    calls = {call.id for event in session.events for call in event.get_function_calls()}
    assert sorted(calls) == sorted(response.id for event in session.events for response in event.get_function_responses())


@pytest.mark.rule("R11")
@pytest.mark.logs("failed in on_agent_error_callback")
async def test_plugins_learn_of_errors_once_in_each_layer_and_cannot_change_them() -> None:
    broken = LlmAgent(name="broken", model=ScriptedLlm(replies=[_raising(ValueError("no answer"))]))
    tree = SequentialAgent(name="outer", sub_agents=[broken])
    failing = Hooked("on_agent_error_callback", error=RuntimeError("plugin bug"), name="failing")
    plugin = Hooked("on_run_error_callback", "ignored")
    runner = runner_for(tree, plugins=[failing, plugin])
    with pytest.raises(ValueError, match="no answer"):
        await run(runner)
    assert [hook for hook in plugin.called if hook in (*NOTICES, "after_run_callback")] == [*NOTICES[:1] * 2, NOTICES[1]]
    assert plugin.seen["on_agent_error_callback"]["agent"] is tree
    assert isinstance(plugin.seen["on_run_error_callback"]["error"], ValueError)
    assert failing.called.count("on_agent_error_callback") == 2


@pytest.mark.parametrize("hook", ["on_user_message_callback", "before_run_callback", "after_run_callback"])
async def test_an_error_of_a_plugin_is_an_error_of_the_run(hook: str) -> None:
    failing, plugin = Hooked(hook, error=RuntimeError("plugin bug"), name="failing"), Hooked()
    with pytest.raises(PluginError):
        await run(runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=["x"])), plugins=[plugin, failing]))
    assert plugin.called.count("on_run_error_callback") == 1


async def test_a_stopped_run_is_no_error() -> None:
    plugin = Hooked()
    runner = runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=["x", "y"])), plugins=[plugin])
    events = runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"))
    await anext(events)
    await events.aclose()
    assert set(plugin.called).isdisjoint(NOTICES)


class Closing(BasePlugin):
    """Waits for ever, or raises, when it is closed."""

    def __init__(self, name: str, error: BaseException | None = None) -> None:
        super().__init__(name)
        self.error = error
        self.closed = False

    async def close(self) -> None:
        self.closed = True
        if self.error is None:
            await asyncio.Event().wait()
        else:
            raise self.error


async def test_a_plugin_that_does_not_close_is_named_after_its_time() -> None:
    slow, last = Closing("slow"), Closing("last", ValueError("broken"))
    with pytest.raises(PluginError, match=r"'slow': TimeoutError \(not closed within 0.01 s\), 'last': ValueError \(broken\)"):
        await PluginManager([slow, last], close_timeout=0.01).close()
    runner = runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=[])))
    given = Runner(app_name="app", agent=runner.agent, session_service=runner.session_service, plugins=[slow], plugin_close_timeout=0.01)
    with pytest.raises(PluginError, match=r"slow"):
        await given.close()


async def test_a_cancelled_close_closes_the_other_plugins_first() -> None:
    last = Closing("last", ValueError("broken"))
    with pytest.raises(asyncio.CancelledError):
        await PluginManager([Closing("first", asyncio.CancelledError()), last]).close()
    assert last.closed


def test_plugin_names_must_be_unique() -> None:
    with pytest.raises(ValueError, match="hooked"):
        PluginManager([Hooked(), Hooked()])


async def test_the_logging_plugin_prints_each_step_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runner = runner_for(busy_agent(output_key="said"), plugins=[LoggingPlugin()])
    await run(runner)
    printed = capsys.readouterr().out
    for part in (
        "message to app app, user u, session s: go",
        "agent busy begins",
        "asks scripted with 1 contents, tools works, breaks",
        "tool works is called",
        "tool works returned {'ok': True}",
        "tool breaks failed: ValueError: broken tool",
        "failed: ValueError: broken model",
        "busy > recovered",
        "by busy, sets said",
        "agent busy ends",
        "ends",
    ):
        assert part in printed
    assert all(line.startswith("[logging_plugin] ") for line in printed.splitlines())
    assert texts((await stored(runner)).events) == ["go", "recovered"]


async def test_each_hook_can_be_called_by_google_adks_name() -> None:
    plugin = Hooked("before_run_callback", answer=said("instead"))
    manager = PluginManager([plugin, later := Hooked(name="later")])

    assert await manager.run_before_run_callback(invocation_context=None) == said("instead")
    assert later.called == []
    for hook in ALL_HOOKS:
        await getattr(manager, f"run_{hook}")(told=hook)
    assert plugin.called[1:] == ALL_HOOKS and plugin.seen[ALL_HOOKS[-1]] == {"told": ALL_HOOKS[-1]}


@pytest.mark.logs("failed in on_run_error_callback")
async def test_a_hook_called_by_name_fails_as_in_a_run() -> None:
    manager = PluginManager(
        [Hooked("before_run_callback", error=ValueError("no")), Hooked("on_run_error_callback", error=ValueError("no"), name="b")]
    )
    with pytest.raises(PluginError, match="plugin 'hooked', in before_run_callback: no"):
        await manager.run_before_run_callback()
    await manager.run_on_run_error_callback()
