"""A debugger of Python code, attached to an agent whose events are held."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from inspector_app.engines.child_engine import ChildError
from inspector_app.engines.protocol import Debugpy, free_port
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from tests.interop.engines.conftest import AGENTS, Start
from tests.interop.engines.debug_adapter import DebugAdapter
from tests.interop.engines.driving import drive, script
from tests.interop.google_adk import adk_python

AGENT = AGENTS / "steps" / "agent.py"
WEATHER = script(["call", "weather", {"city": "Bern"}], ["done"])


@pytest.fixture(scope="module")
def with_debugpy() -> None:
    found = subprocess.run([adk_python(), "-c", "import debugpy"], capture_output=True, check=False)
    if found.returncode != 0:
        pytest.skip("debugpy is not installed beside google-adk: pip install debugpy there")


@pytest.mark.usefixtures("with_debugpy")
async def test_a_breakpoint_in_a_tool_stops_it_while_its_events_are_held(start_engine: Start) -> None:
    port = free_port(0)
    started = await start_engine("2.13", AGENTS / "steps", debugpy=Debugpy(port))
    line = next(number for number, text in enumerate(AGENT.read_text().splitlines(), 1) if "looking up" in text)
    editor = DebugAdapter(port)
    await editor.attach({str(AGENT): [line]})
    places: list[str] = []

    async def at_hold(hold: Hold) -> None:
        places.append(hold.place)
        (debugger.step_into if len(places) < 3 else debugger.resume)()

    debugger = Debugger(paused=True)
    run = asyncio.ensure_future(drive(started.engine, await started.engine.new_session("u"), WEATHER, debugger, at_hold))
    stopped = await asyncio.wait_for(editor.event("stopped"), 60)
    assert stopped["reason"] == "breakpoint"
    stack = await editor.request("stackTrace", threadId=stopped["threadId"])
    assert (stack["stackFrames"][0]["name"], stack["stackFrames"][0]["line"]) == ("weather", line)
    assert "before tool" in places and not run.done()
    assert await started.engine.child.where(30), "the worker's thread for commands answers while the agent's is stopped"
    assert started.engine.child.ended is None
    frame = stack["stackFrames"][0]["id"]
    assert (await editor.request("evaluate", expression="city", frameId=frame))["result"] == "'Bern'"
    await editor.request("continue", threadId=stopped["threadId"])
    events = await asyncio.wait_for(run, 60)
    assert [response.response for event in events for response in event.get_function_responses()] == [{"sky": "blue over Bern"}]
    await editor.close()


async def test_an_environment_without_debugpy_says_how_to_install_it(start_engine: Start, tmp_path: Path) -> None:
    (tmp_path / "debugpy.py").write_text("raise ImportError('no debugpy')\n")
    environ = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin"}
    with pytest.raises(ChildError, match=r"debugpy is not installed in .*\. Install it: .*python\S* -m pip install debugpy"):
        await start_engine("2.13", AGENTS / "steps", debugpy=Debugpy(free_port(0)), environ=environ)


@pytest.mark.usefixtures("with_debugpy")
async def test_the_command_line_waits_for_the_editor() -> None:
    command = ["run", str(AGENTS / "steps"), "--python", adk_python(), "--debugpy", "0", "--message", '[["done"]]', "--json"]
    pipe = subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "inspector_app", *command, stdout=pipe, stderr=pipe)
    assert process.stderr is not None
    hint = (await process.stderr.readline()).decode()
    assert "attach VS Code" in hint
    port = int(hint.partition("127.0.0.1:")[2].partition(":")[0])
    editor = DebugAdapter(port)
    for _ in range(600):
        try:
            await editor.attach({})
            break
        except (OSError, asyncio.IncompleteReadError):
            # The child is starting, or debugpy listens already and turns editors away until the child has joined it.
            await editor.close()
            await asyncio.sleep(0.05)
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    await editor.close()
    assert process.returncode == 0 and b'"status": "finished"' in out
