from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import load_agent
from inspector_app.engines.protocol import CodePlace
from inspector_app.workspace.code_places import links_of_event, links_of_tracebacks
from runtime.events.event import Event

CODE = """
import functools
from runtime.agents import BaseAgent, LlmAgent
from runtime.tools import AgentTool, BaseTool, FunctionTool

def plain(city): ...

def wrapped(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner

@wrapped
def decorated(city): ...

class Own(BaseTool):
    def __init__(self):
        super().__init__(name="own", description="")

def check(callback_context): ...
def told(ctx): return "Answer."

class Custom(BaseAgent):
    pass

PREFIX = "of_"
helper = LlmAgent(name="helper", description="Helps.")
computed = Custom(name=PREFIX + "a_class")
root_agent = LlmAgent(
    name="clerk",
    instruction=told,
    tools=[plain, FunctionTool(decorated), Own(), AgentTool(agent=helper)],
    before_agent_callback=[check, functools.partial(check)],
    sub_agents=[computed],
)
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[CodePlace, ...]:
    folder = tmp_path / "agent_with_places"
    folder.mkdir()
    (folder / "agent.py").write_text(CODE)
    loaded = load_agent(str(folder))
    for name in [name for name in sys.modules if name.startswith("agent_with_places")]:
        del sys.modules[name]
    return loaded.places


def line(text: str) -> int:
    return next(number for number, one in enumerate(CODE.splitlines(), 1) if one.startswith(text))


def test_agents_tools_and_callbacks_have_their_lines(places: tuple[CodePlace, ...]) -> None:
    assert [(place.kind, place.agent, place.name, place.line) for place in places] == [
        ("agent", "clerk", "clerk", line("root_agent =")),
        ("tool", "clerk", "plain", line("def plain")),
        ("tool", "clerk", "decorated", line("@wrapped")),
        ("tool", "clerk", "own", line("class Own")),
        ("tool", "clerk", "helper", line("helper =")),
        ("callback", "clerk", "before_agent_callback", line("def check")),
        ("callback", "clerk", "before_agent_callback", line("def check")),
        ("callback", "clerk", "instruction", line("def told")),
        ("agent", "helper", "helper", line("helper =")),
        ("agent", "of_a_class", "of_a_class", line("class Custom")),
    ]


def test_a_node_of_a_workflow_is_behind_its_events() -> None:
    places = [CodePlace("agent", "graph", "graph", "/a/agent.py", 9), CodePlace("agent", "first", "first", "/a/agent.py", 3)]
    event = Event.model_validate({"author": "graph", "node_info": {"path": "graph@1/first@1"}})
    assert [(link.what, link.line) for link in links_of_event(event, places)] == [("agent first", 3), ("agent graph", 9)]


def test_an_error_was_raised_at_the_last_line_of_the_agents_own_code_of_each_traceback() -> None:
    own = """Traceback (most recent call last):
  File "/a/agent.py", line 3, in run
    look_up()
  File "/a/tools/look_up.py", line 12, in look_up
    requests.get(url)
  File "/a/.venv/lib/python3.11/site-packages/requests/api.py", line 73, in get
    raise ConnectionError
requests.ConnectionError: no route
"""
    other = own.replace("/a/", "/b/")
    assert [(link.what, link.file, link.line) for link in links_of_tracebacks([own, other, "KeyError: 'a'", own], Path("/a"))] == [
        ("raised here", "/a/tools/look_up.py", 12)
    ]
