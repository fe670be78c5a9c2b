from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import AgentLoadError, agents_to_choose_from, check_agent_path, files_of_agent, load_agent
from tests.seeds.running import run, runner_for

AGENT = "from runtime.agents.base_agent import BaseAgent\nroot_agent = BaseAgent(name='{name}')\n"
APP = """
from runtime.apps.app import App
from runtime.agents.base_agent import BaseAgent
app = App(name='shop', root_agent=BaseAgent(name='seller'))
"""


def write(folder: Path, **files: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return str(folder)


_there_before: set[str] = set()


@pytest.fixture(autouse=True)
def remove_agent_modules() -> Iterator[None]:
    _there_before.clear()
    _there_before.update(sys.modules)  # agents that other tests loaded
    yield
    for name in [name for name in sys.modules if name not in _there_before and name.startswith(("trip_planner", "agent_", "neighbour_"))]:
        del sys.modules[name]


def agent_modules() -> dict[str, object]:
    mine = {name: module for name, module in sys.modules.items() if name not in _there_before}
    return {name: module for name, module in mine.items() if name.startswith(("trip_planner", "agent_"))}


def test_a_root_agent_becomes_an_app_with_the_name_of_the_folder(tmp_path: Path) -> None:
    loaded = load_agent(write(tmp_path / "trip_planner", agent=AGENT.format(name="planner")))
    assert (loaded.name, loaded.app.name, loaded.app.root_agent.name) == ("trip_planner", "trip_planner", "planner")
    assert loaded.folder == tmp_path / "trip_planner"


class ImportsWhileItIsRead(str):
    """A module's name at which another thread's import ends."""

    def startswith(self, *words: object) -> bool:
        sys.modules.setdefault("agent_of_another_thread", sys)
        return super().startswith(*words)  # type: ignore[arg-type]


def test_another_threads_import_does_not_disturb_the_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, ImportsWhileItIsRead("a module"), sys)
    monkeypatch.delitem(sys.modules, "agent_of_another_thread", raising=False)
    assert load_agent(write(tmp_path / "trip_planner", agent=AGENT.format(name="planner"))).name == "trip_planner"


def test_an_app_keeps_its_name(tmp_path: Path) -> None:
    assert load_agent(write(tmp_path / "trip_planner", agent=APP)).name == "shop"


def test_the_package_itself_may_define_the_agent(tmp_path: Path) -> None:
    assert load_agent(write(tmp_path / "trip_planner", __init__=AGENT.format(name="inside"))).app.root_agent.name == "inside"


def test_a_package_as_google_adk_creates_it_is_loaded(tmp_path: Path) -> None:
    folder = write(tmp_path / "trip_planner", __init__="from . import agent", agent=AGENT.format(name="planner"))
    assert load_agent(folder).app.root_agent.name == "planner"


def test_the_agent_module_may_be_a_package(tmp_path: Path) -> None:
    write(tmp_path / "trip_planner" / "agent", __init__=AGENT.format(name="deep"))
    assert load_agent(str(tmp_path / "trip_planner")).app.root_agent.name == "deep"


@pytest.mark.parametrize("file", ["agent.py", "__init__.py"])
def test_the_main_file_of_a_folder_means_the_folder(tmp_path: Path, file: str) -> None:
    folder = write(tmp_path / "trip_planner", __init__="", agent=AGENT.format(name="planner"))
    assert load_agent(f"{folder}/{file}").name == "trip_planner"


def test_another_file_of_the_folder_is_loaded(tmp_path: Path) -> None:
    folder = write(tmp_path / "trip_planner", second=AGENT.format(name="other"), agent=AGENT.format(name="planner"))
    assert load_agent(f"{folder}/second.py").app.root_agent.name == "other"


@pytest.mark.parametrize("name", ["my agent", "2025.orders", "user", "json", "runtime", "trip-planner", "日本"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    import_before = sys.modules.get(name)
    folder = write(
        tmp_path / name, names="NAME = 'planner'", agent="from .names import NAME\n" + AGENT.format(name="x").replace("'x'", "NAME")
    )
    assert load_agent(folder).app.root_agent.name == "planner"
    assert import_before is None or sys.modules[name] is import_before


def test_an_agent_imports_its_own_modules_and_those_next_to_its_folder(tmp_path: Path) -> None:
    write(tmp_path, neighbour_of_the_planner="NAME = 'planner'")
    write(tmp_path / "trip_planner" / "tools", __init__="", search="from ..names import NAME")
    folder = write(
        tmp_path / "trip_planner",
        names="from neighbour_of_the_planner import NAME",
        agent="from .tools.search import NAME\nimport trip_planner.tools.search as same\nassert same.NAME is NAME\n"
        + AGENT.format(name="planner"),
    )
    assert load_agent(folder).app.root_agent.name == "planner"
    assert str(tmp_path) not in sys.path


def test_reloading_uses_the_new_code_of_every_module(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "trip_planner", names="NAME = 'old'", agent="from .names import NAME\n" + AGENT.format(name="x").replace("'x'", "NAME")
    )
    assert load_agent(folder).app.root_agent.name == "old"
    write(tmp_path / "trip_planner", names="NAME = 'new'")  # the same length, within the same second
    assert load_agent(folder).app.root_agent.name == "new"
    assert not list(tmp_path.rglob("__pycache__"))


def test_two_folders_with_the_same_name_are_loaded_side_by_side(tmp_path: Path) -> None:
    one = load_agent(write(tmp_path / "a" / "trip_planner", agent=AGENT.format(name="one")))
    two = load_agent(write(tmp_path / "b" / "trip_planner", agent=AGENT.format(name="two")))
    assert (one.app.root_agent.name, two.app.root_agent.name) == ("one", "two")
    assert (one.name, two.name) == ("trip_planner", "trip_planner")


def test_an_import_that_raises_shows_its_place_and_leaves_no_modules(tmp_path: Path) -> None:
    folder = write(tmp_path / "trip_planner", names="NAME = {}['missing']", fine="", agent="from . import fine, names")
    with pytest.raises(AgentLoadError, match="KeyError: 'missing'") as caught:
        load_agent(folder)
    lines = (caught.value.traceback or "").splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].lstrip().startswith(f'File "{folder}/agent.py", line 1')
    assert lines[-1] == "KeyError: 'missing'"
    assert agent_modules() == {}


def test_a_failed_reload_keeps_the_loaded_modules(tmp_path: Path) -> None:
    folder = write(tmp_path / "trip_planner", names="", agent="from . import names\n" + AGENT.format(name="planner"))
    load_agent(folder)
    before = agent_modules()
    write(tmp_path / "trip_planner", agent="from . import names\n1 / 0")
    with pytest.raises(AgentLoadError):
        load_agent(folder)
    assert agent_modules() == before


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(:", "SyntaxError"),
        ("import sys; sys.exit(3)", r"it calls sys\.exit\(3\) while it is imported \(agent\.py, line 1\)"),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        ("from google.adk.agents import Nothing", r"agent\.py, line 1: the embedded runtime has no google\.adk\.agents\.Nothing"),
        ("from runtime.tools.no_such_tool import NoSuchTool", "runtime has much of google-adk, but not that"),
        ("from runtime.tools import NoSuchTool", "runtime has much of google-adk, but not that"),
        (
            "from runtime.agents import Agent; Agent(name='a', modle='m')",
            r"LlmAgent: modle: Extra inputs are not permitted \(agent\.py, line 1\)\.$",
        ),
        ("x = 1", "defines neither `root_agent` nor `app`"),
        ("root_agent = 'planner'", "Its `root_agent` is a builtins.str"),
    ],
)
def test_the_error_names_the_problem(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(AgentLoadError, match=message):
        load_agent(write(tmp_path / "trip_planner", agent=source))
    assert agent_modules() == {}


def test_an_interrupted_import_leaves_no_modules(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        load_agent(write(tmp_path / "trip_planner", agent="raise KeyboardInterrupt"))
    assert agent_modules() == {}


def test_an_agent_in_a_yaml_file_is_found_and_needs_google_adk(tmp_path: Path) -> None:
    folder = tmp_path / "my tea"
    folder.mkdir()
    file = folder / "root_agent.yaml"
    file.write_text("name: [broken", "utf-8")
    for path in (folder, file):
        check_agent_path(str(path))
        with pytest.raises(AgentLoadError, match=r"An agent that root_agent\.yaml describes needs google-adk: install it") as raised:
            load_agent(str(path))
        assert raised.value.missing.endswith("An agent that root_agent.yaml describes needs google-adk.")
    assert file in files_of_agent(str(folder))


def test_a_module_comes_before_a_yaml_file(tmp_path: Path) -> None:
    write(tmp_path / "both", agent=AGENT.format(name="python"))
    (tmp_path / "both" / "root_agent.yaml").write_text("name: yaml\ninstruction: x\n", "utf-8")
    assert load_agent(str(tmp_path / "both")).root.name == "python"


def test_a_folder_of_agents_is_refused_with_their_names(tmp_path: Path) -> None:
    write(tmp_path / "agents" / "one", agent="")
    write(tmp_path / "agents" / "two", agent="")
    write(tmp_path / "agents" / "tools", search="")
    with pytest.raises(AgentLoadError, match=r"holds several agents: one, two\. Name one of them\.") as caught:
        load_agent(str(tmp_path / "agents"))
    assert caught.value.choices == ("one", "two")


def test_agents_in_a_folder_are_found_without_running_them(tmp_path: Path) -> None:
    agents = tmp_path / "agents"
    for name in ("folder", "package", "helper", "described", ".hidden"):
        (agents / name).mkdir(parents=True)
    (agents / "folder" / "agent.py").write_text("raise SystemExit")
    (agents / "package" / "__init__.py").write_text("from .made import root_agent")
    (agents / "helper" / "__init__.py").write_text("")
    (agents / "described" / "root_agent.yaml").write_text("name: x")
    (agents / ".hidden" / "agent.py").write_text("")
    (agents / "single.py").write_text("import os\nroot_agent = Agent()\n")
    (agents / "an_app.py").write_text("app: App = adk.App(name='x')\n")
    (agents / "web.py").write_text("app = Flask()\n")
    assert agents_to_choose_from(str(agents)) == ("an_app.py", "described", "folder", "package", "single.py")
    assert agents_to_choose_from(str(agents / "folder")) == (), "it is an agent itself"
    assert agents_to_choose_from(str(agents / "single.py")) == ()


def test_a_path_without_a_folder_or_python_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(AgentLoadError, match="is no agent"):
        load_agent(str(tmp_path / "notes.txt"))
    with pytest.raises(AgentLoadError, match="There is no file or folder"):
        load_agent(str(tmp_path / "nowhere"))


THREAD_BOUND = """
import sqlite3, threading
from runtime.agents import LlmAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm

connection = sqlite3.connect(":memory:")
connection.execute("CREATE TABLE notes (text)")
local = threading.local()
local.imported = True
imported_on = threading.current_thread()

def note(text: str) -> dict:
    connection.execute("INSERT INTO notes VALUES (?)", (text,))
    return {"notes": connection.execute("SELECT count(*) FROM notes").fetchone()[0], "imported": local.imported}

root_agent = LlmAgent(
    name="planner",
    model=ScriptedLlm(replies=[Reply(calls=[("note", {"text": "a"}), ("note", {"text": "b"})]), "done"]),
    tools=[note],
    before_agent_callback=lambda callback_context: connection.execute("SELECT 1") and None,
    after_agent_callback=lambda callback_context: connection.close(),
)
"""


@pytest.mark.rule("R3")
async def test_an_agents_calls_run_on_the_thread_that_imported_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "trip_planner", agent=THREAD_BOUND)
    for _ in range(2):  # a reloaded agent has a new thread, and new connections
        events = await run(runner_for(load_agent(folder).app.root_agent))
        results = [response.response for event in events for response in event.get_function_responses()]
        assert results == [{"notes": 1, "imported": True}, {"notes": 2, "imported": True}]


def test_the_thread_of_an_agent_that_cannot_be_loaded_ends(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(AgentLoadError):
        load_agent(write(tmp_path / "trip_planner", agent="1 / 0"))
    for thread in set(threading.enumerate()) - before:
        until = time.monotonic() + 30
        while thread.is_alive() and time.monotonic() < until:
            gc.collect()  # again, as the thread itself holds the agent for a moment after it has reported the error
            thread.join(0.05)
        assert not thread.is_alive()


def test_a_failure_points_at_the_agents_line_and_shows_no_frame_of_ours(tmp_path: Path) -> None:
    folder = Path(
        write(tmp_path / "trip_planner", agent="from . import parts\n", parts="from runtime.agents import Agent\n\nAgent(odd=1)\n")
    )
    with pytest.raises(AgentLoadError) as caught:
        load_agent(str(folder))
    assert (caught.value.file, caught.value.line) == (str(folder / "parts.py"), 3)
    frames = [line.split('"')[1] for line in (caught.value.traceback or "").splitlines() if line.strip().startswith("File ")]
    assert frames[:2] == [str(folder / "agent.py"), str(folder / "parts.py")]
    assert all("/pydantic/" in frame for frame in frames[2:])


def test_the_causes_of_a_failure_are_shown_without_frames_of_ours(tmp_path: Path) -> None:
    code = (
        "from runtime.agents import Agent\ntry:\n    Agent(odd=1)\nexcept ValueError as error:\n    raise OSError('no agent') from error\n"
    )
    with pytest.raises(AgentLoadError, match=r"OSError: no agent \(agent\.py, line 5\)\.") as caught:
        load_agent(write(tmp_path / "trip_planner", agent=code))
    shown = caught.value.traceback or ""
    assert "Extra inputs are not permitted" in shown and "direct cause" in shown
    assert [line for line in shown.splitlines() if "/runtime/" in line] == []


def test_code_of_an_environment_below_the_folder_is_not_the_agents(tmp_path: Path) -> None:
    packages = tmp_path / "trip_planner" / ".venv" / "lib" / "site-packages"
    write(packages, broken_package_of_the_planner="raise ValueError('broken')\n")
    folder = write(
        tmp_path / "trip_planner", agent=f"import sys\nsys.path.append({str(packages)!r})\nimport broken_package_of_the_planner\n"
    )
    with pytest.raises(AgentLoadError) as caught:
        load_agent(folder)
    assert caught.value.line == 3
    assert 'broken_package_of_the_planner.py", line 1' in (caught.value.traceback or "")


@pytest.mark.parametrize("name", ["root_agent", "app", "create_app", "make_agent"])
def test_an_agent_may_be_made_by_a_function(tmp_path: Path, name: str) -> None:
    code = f"from runtime.agents.base_agent import BaseAgent\ndef {name}(size=1):\n    return BaseAgent(name='planner')\n"
    assert load_agent(write(tmp_path / "trip_planner", agent=code)).app.root_agent.name == "planner"


def test_a_function_that_needs_arguments_or_the_event_loop_makes_no_agent(tmp_path: Path) -> None:
    with pytest.raises(AgentLoadError, match="defines neither"):
        load_agent(write(tmp_path / "trip_planner", agent="def create_app(size):\n    raise SystemExit\n"))
    with pytest.raises(AgentLoadError, match=r"agent\.py, line 1: create_app is asynchronous"):
        load_agent(write(tmp_path / "trip_planner", agent="async def create_app():\n    raise SystemExit\n"))
    with pytest.raises(AgentLoadError, match=r"OSError: no key \(agent\.py, line 2\)"):
        load_agent(write(tmp_path / "trip_planner", agent="def create_app():\n    raise OSError('no key')\n"))
