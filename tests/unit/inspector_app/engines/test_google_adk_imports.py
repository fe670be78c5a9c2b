"""Agents whose files import google-adk, loaded on the embedded runtime."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import textwrap
from pathlib import Path

import pytest

import runtime.agents
from inspector_app.engines.agent_loader import AgentLoadError, load_agent

AGENT = """
    from google.adk.agents import LlmAgent
    root_agent = LlmAgent(name="planner", model="gemini-2.5-flash")
"""


def write(folder: Path, **files: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for name, code in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(code))
    return str(folder)


@pytest.mark.rule("N1")
def test_an_agent_written_for_google_adk_loads_unchanged(tmp_path: Path) -> None:
    loaded = load_agent(write(tmp_path / "planner_1", agent=AGENT))
    assert type(loaded.app.root_agent) is runtime.agents.LlmAgent


FORMS = [
    "import google.adk.agents\nAgent = google.adk.agents.LlmAgent",
    "import google.adk.agents\nimport google.genai.types\nAgent = google.adk.agents.LlmAgent\ngoogle.genai.types.Part",
    "import google.adk.agents as agents\nAgent = agents.LlmAgent",
    "import google.adk as adk\nAgent = adk.agents.LlmAgent",
    "from google import adk, genai\ngenai.types\nAgent = adk.agents.LlmAgent",
    "from google.adk import agents\nAgent = agents.LlmAgent",
    "from google.adk import Agent",
    "from google.adk.agents import *\nAgent = LlmAgent",
    "from google.adk.agents.llm_agent import LlmAgent as Agent\nfrom google.genai import types",
    "from google.adk.agents import llm_agent\nAgent = llm_agent.LlmAgent",
]


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_every_form_of_import_works(tmp_path: Path, number: int) -> None:
    code = f'{FORMS[number]}\nroot_agent = Agent(name="planner", model="gemini-2.5-flash")\n'
    loaded = load_agent(write(tmp_path / f"form_{number}", agent=code))
    assert type(loaded.app.root_agent) is runtime.agents.LlmAgent


def test_other_modules_of_the_agent_and_imports_inside_functions_see_it_too(tmp_path: Path) -> None:
    write(tmp_path, shared_by_planners="from google.adk.tools import FunctionTool\n")
    write(
        tmp_path / "planner_2" / "parts", tools="from google.adk.tools import ToolContext\n", late="from google.adk.events import Event\n"
    )
    code = """
        from google.adk.agents import LlmAgent
        from shared_by_planners import FunctionTool
        from .parts.tools import ToolContext

        def later():
            from google.adk.sessions import State
            from .parts.late import Event
            return State, Event

        root_agent = LlmAgent(name="planner", model="gemini-2.5-flash", tools=[later])
    """
    loaded = load_agent(write(tmp_path / "planner_2", agent=code))
    (later,) = loaded.app.root_agent.tools  # type: ignore[attr-defined]
    state, event = later()
    assert (state.__module__, event.__module__) == ("runtime.sessions.state", "runtime.events.event")


def test_an_agent_in_the_init_of_its_package_sees_it_too(tmp_path: Path) -> None:
    assert load_agent(write(tmp_path / "planner_3", __init__=AGENT)).app.root_agent.name == "planner"


def test_two_agents_in_one_process_do_not_disturb_each_other(tmp_path: Path) -> None:
    first = load_agent(write(tmp_path / "a" / "planner_4", agent=AGENT))
    second = load_agent(write(tmp_path / "b" / "planner_4", agent=AGENT))
    assert type(first.app.root_agent) is type(second.app.root_agent)
    assert first.app.root_agent is not second.app.root_agent


@pytest.mark.rule("N1")
def test_other_code_sees_the_real_google(tmp_path: Path) -> None:
    load_agent(write(tmp_path / "planner_5", agent=AGENT))
    assert not any(name.startswith("google.adk") and module.__name__.startswith("runtime") for name, module in sys.modules.items())
    if importlib.util.find_spec("google.adk") is None:
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("google.adk")
    assert type(importlib.import_module("google")).__name__ == "module"


@pytest.mark.parametrize(
    ("code", "line", "missing"),
    [
        ("from google.adk.tools import NoSuchTool\n", 1, "google.adk.tools.NoSuchTool"),
        ("\n\nfrom google.adk.no_such_part import thing\n", 3, "google.adk.no_such_part"),
        ("import google.adk.agents.no_such_agent\n", 1, "google.adk.agents.no_such_agent"),
    ],
)
def test_a_name_that_the_runtime_does_not_have_is_reported_with_its_line_and_the_engine_that_has_it(
    tmp_path: Path, code: str, line: int, missing: str
) -> None:
    with pytest.raises(AgentLoadError) as caught:
        load_agent(write(tmp_path / "planner_6", agent=code))
    text = str(caught.value)
    assert f"agent.py, line {line}: the embedded runtime has no {missing}, and google-adk 1.25 and 2.13 have no such public name." in text
    assert "If another version has it, install that version in the agent's environment, or name a Python that has it with --python." in text
    assert "the import path is `runtime`" not in text


def test_a_private_name_may_be_one_of_google_adks(tmp_path: Path) -> None:
    with pytest.raises(AgentLoadError, match=r"To run the agent on google-adk, install google-adk in the agent's environment") as caught:
        load_agent(write(tmp_path / "planner_6", agent="from google.adk.tools import _no_such_tool\n"))
    assert "no such public name" not in str(caught.value)


@pytest.mark.skipif(importlib.util.find_spec("google.adk") is not None, reason="google-adk is installed here")
@pytest.mark.parametrize(
    ("modules", "place"),
    [
        ({"far_tools": "from google.adk.tools import FunctionTool"}, "far_tools.py (line 1)"),
        ({"far_tools": "\nimport google.adk"}, "far_tools.py (line 2)"),
        ({"far_tools": "import google.adk.agents as agents"}, "far_tools.py (line 1)"),
        ({"far_tools": "from google import adk"}, "far_tools.py (line 1)"),
        ({"far_tools": "from google import genai, adk"}, "far_tools.py (line 1)"),
        ({"far_tools": "from google.adk.tools import (\n    FunctionTool,\n)"}, "far_tools.py (line 1)"),
        ({"far_tools": "import importlib\nimportlib.import_module('google.adk.tools')"}, "far_tools.py (line 2)"),
        ({"far_tools": "import far_parts", "far_parts": "from google.adk.tools import FunctionTool"}, "far_parts.py (line 1)"),
        ({"far_tools": "def load():\n    import google.adk\nload()"}, "far_tools.py (line 2)"),
        ({"far_tools": "import no_such_package_anywhere"}, ""),
        ({"far_tools": "from google import no_such_part"}, ""),
    ],
)
@pytest.mark.parametrize("code", ["import far_tools\n", "def late():\n    from far_tools import x\nlate()\n"])
def test_a_file_elsewhere_that_imports_google_adk_is_named_with_the_remedy(
    code: str, modules: dict[str, str], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "far", **modules)
    monkeypatch.syspath_prepend(tmp_path / "far")
    with pytest.raises(AgentLoadError) as caught:
        load_agent(write(tmp_path / "here" / "planner_8", agent=code))
    text = str(caught.value)
    named = f"{tmp_path}/far/{place} imports google.adk, which is not installed here. Only files in the agent's folder and next to it get"
    assert (named in text) is bool(place)
    assert ("install google-adk in the agent's environment, or name a Python that has it with --python" in text) is bool(place)
    assert not {"far_tools", "far_parts"} & set(sys.modules)
    write(tmp_path / "here", **modules)  # the remedy: next to the agent's folder
    monkeypatch.undo()
    if place and "importlib" not in modules["far_tools"]:
        load_agent(write(tmp_path / "here" / "planner_8", agent=f"{textwrap.dedent(AGENT)}import far_tools\n"))
    for name in ("far_tools", "far_parts"):
        sys.modules.pop(name, None)


def test_an_optional_import_can_be_caught(tmp_path: Path) -> None:
    code = """
        from google.adk.agents import LlmAgent
        try:
            from google.adk.tools import NoSuchTool
        except ImportError:
            NoSuchTool = None
        root_agent = LlmAgent(name="planner", model="gemini-2.5-flash")
    """
    assert load_agent(write(tmp_path / "planner_7", agent=code)).app.root_agent.name == "planner"


def test_fastapis_security_schemes_are_ours_where_fastapi_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    code = """
        from fastapi.openapi.models import OAuth2, OAuthFlowAuthorizationCode, OAuthFlows, SecurityScheme, SecuritySchemeType
        from google.adk.agents import LlmAgent
        from google.adk.auth import AuthConfig
        flow = OAuthFlowAuthorizationCode(authorizationUrl="https://idp/auth", tokenUrl="https://idp/token", scopes={"read": ""})
        config = AuthConfig(auth_scheme=OAuth2(flows=OAuthFlows(authorizationCode=flow)))
        root_agent = LlmAgent(name="planner", description=config.auth_scheme.type_.value)
    """
    assert load_agent(write(tmp_path / "planner_1", agent=code)).root.description == "oauth2"
    with pytest.raises(AgentLoadError, match="fastapi"):
        load_agent(write(tmp_path / "planner_1", agent="from fastapi import FastAPI"))


def test_modules_beside_the_folder_in_a_package_above_it_see_it_too(tmp_path: Path) -> None:
    write(tmp_path / "planners_pkg", __init__="", settings="from google.adk.agents import LlmAgent as Kind\n")
    code = f"""
        import sys
        sys.path.append({str(tmp_path)!r})
        from planners_pkg.settings import Kind
        root_agent = Kind(name="planner", model="gemini-2.5-flash")
    """
    try:
        loaded = load_agent(write(tmp_path / "planners_pkg" / "inner_planner", agent=code))
        assert type(loaded.app.root_agent) is runtime.agents.LlmAgent
    finally:
        sys.path.remove(str(tmp_path))
