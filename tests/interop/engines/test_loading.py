"""Loading agents as google-adk does, and the errors of agents that cannot be loaded."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest

from inspector_app.engines.agent_output import OutputLine
from inspector_app.engines.child_engine import AgentStillLoadingError, ChildEngine, Imports
from inspector_app.engines.child_process import PROTOCOL, ChildEndedError, ChildError, ChildProcess
from inspector_app.engines.environments import own_environment
from tests.interop.engines.conftest import AGENTS, EMBEDDED, PYTHONS, Start
from tests.interop.engines.driving import drive, text

AGENT = """
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types
import os
class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        text = os.environ.get("GREETING", "hello")
        yield Event(invocation_id=ctx.invocation_id, author=self.name, content=types.Content(role="model", parts=[types.Part(text=text)]))
root_agent = Echo(name="echo")
"""


def write(file: Path, code: str = AGENT) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(code))
    return file


async def test_a_folder_with_relative_imports_and_an_app(version: str, start_engine: Start) -> None:
    for path in (AGENTS / "steps", AGENTS / "steps" / "agent.py"):
        started = await start_engine(version, path)
        assert (started.engine.agent.app_name, started.engine.agent.root["name"]) == ("steps_app", "steps")


async def test_a_single_file_and_the_env_file_above_it(
    newest: str, start_engine: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    file = write(tmp_path / "single" / "echo_agent.py")
    (tmp_path / ".env").write_text("GREETING=from the file\nGIVEN=from the file\n")
    started = await start_engine(newest, file)
    assert started.engine.agent.app_name == "echo_agent"
    (event,) = await drive(started.engine, await started.engine.new_session("u"), text("hi"))
    assert event.content is not None and event.content.parts is not None and event.content.parts[0].text == "from the file"
    assert not (file.parent / "__pycache__").exists(), "nothing is written into the user's folder"


async def test_a_package_whose_init_defines_the_agent(newest: str, start_engine: Start, tmp_path: Path) -> None:
    write(tmp_path / "packed" / "__init__.py", "from .inner.made import root_agent\n")
    write(tmp_path / "packed" / "inner" / "made.py")
    assert (await start_engine(newest, tmp_path / "packed")).engine.agent.root["name"] == "echo"


async def test_a_single_file_of_a_package_with_relative_imports(newest: str, start_engine: Start, tmp_path: Path) -> None:
    write(tmp_path / "packed" / "greeting.py", "NAME = 'echo'\n")
    file = write(tmp_path / "packed" / "second.py", AGENT.replace('name="echo"', "name=NAME") + "\n")
    file.write_text("from .greeting import NAME\n" + file.read_text())
    started = await start_engine(newest, file)
    assert (started.engine.agent.app_name, started.engine.agent.root["name"]) == ("second", "echo")


@pytest.mark.parametrize("name", ["root_agent", "create_app"])
async def test_an_agent_made_by_a_function(newest: str, start_engine: Start, tmp_path: Path, name: str) -> None:
    code = AGENT.replace("root_agent = Echo", f"def {name}():\n    return Echo")
    if name == "create_app":
        code = "from google.adk.apps import App\n" + code.replace('Echo(name="echo")', 'App(name="made", root_agent=Echo(name="echo"))')
    started = await start_engine(newest, write(tmp_path / "by_function" / "agent.py", code).parent)
    assert started.engine.agent.app_name == ("made" if name == "create_app" else "by_function")


async def test_a_yaml_agent(newest: str, start_engine: Start, tmp_path: Path) -> None:
    yaml = "name: told\nmodel: gemini-2.5-flash\ndescription: Told by a file.\ninstruction: Answer.\n"
    write(tmp_path / "told" / "root_agent.yaml", yaml)
    if newest == EMBEDDED:
        with pytest.raises(ChildError, match="The embedded runtime loads no YAML agents"):
            await start_engine(newest, tmp_path / "told")
        return
    started = await start_engine(newest, tmp_path / "told")
    assert started.engine.agent.root["model"] == "gemini-2.5-flash"


async def test_a_folder_of_agents_offers_them(newest: str, start_engine: Start) -> None:
    with pytest.raises(ChildError, match="holds several agents: beside, fan, graph, line, nest, spread, steps, tally, zoo") as caught:
        await start_engine(newest, AGENTS)
    assert caught.value.choices == ("beside", "fan", "graph", "line", "nest", "spread", "steps", "tally", "zoo")


async def test_a_folder_that_is_no_agent_says_so(newest: str, start_engine: Start, tmp_path: Path) -> None:
    with pytest.raises(ChildError, match="defines neither `root_agent` nor `app`"):
        await start_engine(newest, tmp_path)
    with pytest.raises(ChildError, match="There is no agent at"):
        await start_engine(newest, tmp_path / "nothing")
    file = write(tmp_path / "other" / "agent.py", "root_agent = 3\n")
    with pytest.raises(ChildError, match=r"agent\.py defines a `root_agent` that is no agent, but a builtins\.int"):
        await start_engine(newest, file)


@pytest.mark.parametrize(
    ("code", "line", "message"),
    [
        ("import os\nroot_agent = Agent()\n", 2, "NameError: name 'Agent' is not defined"),
        ("x = 1\n\ndef broken(:\n", 3, "SyntaxError"),
        ("import sys\nsys.exit(3)\n", 2, r"SystemExit: The agent's code called sys\.exit\(3\)"),
        (
            "from google.adk.agents import NoSuchAgent\n",
            1,
            "ImportError: cannot import name 'NoSuchAgent'|has no google.adk.agents.NoSuchAgent",
        ),
        ("import a_package_that_is_not_installed\n", 1, "ModuleNotFoundError: No module named 'a_package_that_is_not_installed'"),
    ],
)
async def test_an_error_at_import_names_the_line_in_the_agents_file(
    newest: str, start_engine: Start, tmp_path: Path, code: str, line: int, message: str
) -> None:
    file = write(tmp_path / "bad" / "agent.py", code)
    with pytest.raises(ChildError, match=message) as caught:
        await start_engine(newest, tmp_path / "bad")
    assert (caught.value.file, caught.value.line) == (str(file), line)
    assert "adk_worker" not in (caught.value.traceback or "")


async def test_an_error_in_an_imported_file_shows_its_cause_and_no_frame_of_ours(newest: str, start_engine: Start, tmp_path: Path) -> None:
    code = "try:\n    {}['key']\nexcept KeyError as error:\n    raise OSError('no key') from error\n"
    file = write(tmp_path / "bad" / "tools" / "search.py", code)
    write(tmp_path / "bad" / "agent.py", "from .tools import search\n")
    with pytest.raises(ChildError, match=r"OSError: no key \(tools/search\.py, line 4\)\.") as caught:
        await start_engine(newest, tmp_path / "bad")
    assert (caught.value.file, caught.value.line) == (str(file), 4)
    frames = [line.split('"')[1] for line in (caught.value.traceback or "").splitlines() if line.strip().startswith("File ")]
    assert frames == [str(file), str(tmp_path / "bad" / "agent.py"), str(file)]


async def test_a_relative_import_of_a_missing_module_is_not_taken_for_a_missing_agent(
    newest: str, start_engine: Start, tmp_path: Path
) -> None:
    write(tmp_path / "bad" / "agent.py", "from .tools import search\n")
    with pytest.raises(ChildError, match=r"No module named 'bad\.tools'"):
        await start_engine(newest, tmp_path / "bad")


async def test_an_endless_import_says_where_it_is(newest: str, start_engine: Start, tmp_path: Path) -> None:
    write(tmp_path / "endless" / "agent.py", "import time\n\nwhile True:\n    time.sleep(0.01)\n")
    with pytest.raises(AgentStillLoadingError, match=r"still being imported after 1 s\. It is at .*agent\.py, line [34]"):
        await start_engine(newest, tmp_path / "endless", seconds=1)


async def test_a_long_import_is_waited_for_as_long_as_modules_are_imported(newest: str, tmp_path: Path) -> None:
    """Here it is stuck until a file exists; no clock is involved."""
    code = """
        import pathlib, time
        print("stuck", flush=True)
        while not pathlib.Path(__file__).with_name("first").exists():
            time.sleep(0.01)
        import tabnanny
        print("stuck", flush=True)
        while not pathlib.Path(__file__).with_name("second").exists():
            time.sleep(0.01)
    """
    file = write(tmp_path / "long" / "agent.py", textwrap.dedent(code) + textwrap.dedent(AGENT))
    stuck: asyncio.Queue[str] = asyncio.Queue()

    def on_output(line: OutputLine) -> None:
        if line.text == "stuck":
            stuck.put_nowait(line.text)

    child = ChildProcess(PYTHONS[newest](), on_output, embedded=newest == EMBEDDED)
    imports = Imports(child, 60)
    looks: list[bool] = []

    async def proceeds() -> bool:
        if not looks:
            await stuck.get()
            looks.extend([await imports.proceed(), await imports.proceed()])
            file.with_name("first").touch()
            await stuck.get()
            looks.append(await imports.proceed())
            file.with_name("second").touch()
        return True

    try:
        await child.start()
        loaded = await child.request("load", 0.01, proceeds=proceeds, path=str(file.parent), protocol=PROTOCOL)
    finally:
        await child.close(0)
    assert loaded["app_name"] == "long"
    assert looks == [True, False, True]
    assert imports.passed == 180


async def test_a_child_that_gets_no_processor_time_is_reported(newest: str, tmp_path: Path) -> None:
    write(tmp_path / "slow" / "agent.py")
    child = ChildProcess(PYTHONS[newest](), embedded=newest == EMBEDDED)
    try:
        await child.start()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGSTOP)
        imports = Imports(child, 0.01)
        assert not await imports.proceed()
        with pytest.raises(TimeoutError):
            await child.request("load", 0.01, proceeds=imports.proceed, path=str(tmp_path / "slow"), protocol=PROTOCOL)
    finally:
        await child.close(0)


async def test_an_import_that_ends_the_process_is_reported(newest: str, start_engine: Start, tmp_path: Path) -> None:
    write(tmp_path / "gone" / "agent.py", "import os, sys\nprint('leaving', file=sys.stderr)\nos._exit(7)\n")
    with pytest.raises(ChildEndedError, match=r"exit status 7[\s\S]*leaving"):
        await start_engine(newest, tmp_path / "gone")


async def test_a_workflow_graph_runs(start_engine: Start) -> None:
    started = await start_engine("2.13", AGENTS / "graph")
    assert [node["name"] for node in started.engine.agent.root["sub_agents"]] == ["first", "second"]
    events = await drive(started.engine, await started.engine.new_session("u"), text("hi"))
    dumped = [event.model_dump(exclude_none=True) for event in events]
    assert [one["node_info"]["path"] for one in dumped][:2] == ["graph@1/first@1", "graph@1/second@1"]
    assert "second saw first saw" in str(dumped)


async def test_a_workflow_graph_needs_google_adk_2(start_engine: Start) -> None:
    with pytest.raises(ChildError, match=r"No module named 'google\.adk\.workflow'") as caught:
        await start_engine("1.39", AGENTS / "graph")
    assert caught.value.line == 5


async def test_an_agent_of_the_wrong_environment_says_what_is_missing(start_engine: Start) -> None:
    if own_environment().adk_version is not None:
        pytest.skip("google-adk is installed beside the inspector")
    with pytest.raises(ChildError, match=r"google-adk is not installed in "):
        await ChildEngine.start(sys.executable, AGENTS / "steps", lambda event, temp: None)
