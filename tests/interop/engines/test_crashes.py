"""A child that blocks, crashes, writes without end or is killed; and what it leaves behind: nothing."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from inspector_app.engines import child_engine
from inspector_app.engines.child_process import ChildEndedError
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from tests.interop.engines.conftest import AGENTS, PYTHONS, Start
from tests.interop.engines.driving import drive, script, text, until
from tests.sweep import count


def exists(pid: int) -> bool:
    """Return whether a process runs; one that has ended and waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.rule("N4")
async def test_a_segmentation_fault_is_reported_with_the_last_lines_of_stderr(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "steps")
    key = await started.engine.new_session("u")
    with pytest.raises(ChildEndedError, match=r"killed by SIGSEGV\. Its last lines on stderr:[\s\S]*about to crash"):
        await drive(started.engine, key, script(["call", "crash", {}]))
    with pytest.raises(ChildEndedError, match="SIGSEGV"):
        await drive(started.engine, key, script(["again"]))
    assert len(started.ended) == 1


@pytest.mark.parametrize("tool", ["block", "block_in_c"])
async def test_a_stop_while_the_agent_blocks_kills_it_after_a_grace(
    newest: str, start_engine: Start, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_engine, "STOP_SECONDS", 0.3)
    started = await start_engine(newest, AGENTS / "steps")
    file = tmp_path / "notes"
    debugger = Debugger()
    started.engine.attach(debugger)
    key = await started.engine.new_session("u")
    async with aclosing(debugger.run(started.engine.run(key, script(["call", tool, {"path": str(file)}])))) as events:
        assert (await anext(events)).get_function_calls()
        waiting = asyncio.ensure_future(anext(events, None))
        await until(file.exists)
        pid = started.engine.child.pid
        assert pid is not None and exists(pid)
        debugger.stop()
        assert await waiting is None
    await until(lambda: not exists(pid))
    assert started.engine.child.ended is not None
    assert "did not stop within 0.3 s, so its process was killed" in str(started.engine.child.ended)


@pytest.mark.sweep
@pytest.mark.timeout(3600)
async def test_much_output_is_bounded_and_stops_nothing(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "steps")
    key = await started.engine.new_session("u")
    lines = count(200_000, 100_000_000)
    events = await drive(started.engine, key, script(["call", "flood", {"lines": lines}], ["done"]))
    assert events[1].get_function_responses()[0].response == {"lines": lines}
    await started.engine.close()
    shown = [line for stream, line in started.output if stream == "stdout"]
    assert len(shown) < 2_100 * 60
    assert max(map(len, shown)) <= 10_001
    assert any("lines are not shown" in line for line in shown)


async def test_processes_that_the_agent_leaves_behind_end_with_it(newest: str, start_engine: Start, tmp_path: Path) -> None:
    started = await start_engine(newest, AGENTS / "steps")
    file = tmp_path / "pids"
    key = await started.engine.new_session("u")
    await drive(started.engine, key, script(["call", "leave_processes", {"path": str(file)}], ["done"]))
    left = [int(pid) for pid in file.read_text().split()]
    assert all(map(exists, left))
    await started.engine.close()
    assert not any(map(exists, left))


@pytest.mark.parametrize("killed", ["worker", "guard"])
async def test_a_killed_child_leaves_no_process_behind(newest: str, start_engine: Start, tmp_path: Path, killed: str) -> None:
    started = await start_engine(newest, AGENTS / "steps")
    child = started.engine.child
    assert child.pid is not None and child.guard_pid is not None
    file = tmp_path / "pids"
    key = await started.engine.new_session("u")
    await drive(started.engine, key, script(["call", "leave_processes", {"path": str(file)}], ["done"]))
    os.kill(child.pid if killed == "worker" else child.guard_pid, signal.SIGKILL)
    await until(lambda: child.ended)
    assert "SIGKILL" in str(child.ended)
    in_group, in_own_session, worker = (int(pid) for pid in file.read_text().split())
    await until(lambda: not exists(worker) and not exists(in_group))
    if killed == "guard":  # nothing is left that would know of a process in a session of its own
        os.kill(in_own_session, signal.SIGKILL)
    await until(lambda: not exists(in_own_session))


@pytest.mark.rule("N4")
def test_no_process_is_left_when_the_inspector_is_killed(newest: str, tmp_path: Path) -> None:
    program = """
        import asyncio, sys
        from inspector_app.engines.child_engine import ChildEngine
        from tests.interop.engines.driving import drive, script

        async def main(python, agent, file, version):
            engine = await ChildEngine.start(python, agent, lambda event, temp: None, embedded=version == "embedded")
            key = await engine.new_session("u")
            await drive(engine, key, script(["call", "leave_processes", {"path": file}], ["done"]))
            print(engine.child.guard_pid, flush=True)
            await drive(engine, key, script(["call", "block", {"path": file}]))

        asyncio.run(main(*sys.argv[1:]))
    """
    file = tmp_path / "pids"
    command = [sys.executable, "-c", textwrap.dedent(program), PYTHONS[newest](), str(AGENTS / "steps"), str(file), newest]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3]) as inspector:
        assert inspector.stdout is not None
        guard = int(inspector.stdout.readline())
        end = time.monotonic() + 30
        while "began" not in file.read_text() and time.monotonic() < end:
            time.sleep(0.01)
        inspector.kill()
    pids = [guard, *(int(pid) for pid in file.read_text().split("\n")[0].split())]
    while any(map(exists, pids)):
        assert time.monotonic() < end, "processes are left"
        time.sleep(0.01)


@pytest.mark.sweep
@pytest.mark.timeout(3600)
async def test_random_kills_while_stepping_hang_nothing_and_leave_a_session_that_can_be_resumed(
    newest: str, start_engine: Start, tmp_path: Path
) -> None:
    random_number = random.Random(17)
    uninterrupted = [f"{name}_{number}" for name in ("one", "two", "three") for number in range(3)]
    for round_number in range(count(1, 70)):
        sessions = {"kind": "sqlite", "path": str(tmp_path / f"{round_number}.db")}
        started = await start_engine(newest, AGENTS / "line", sessions=sessions)
        child = started.engine.child
        key = await started.engine.new_session("u")
        last = random_number.randrange(1, 12)
        delay = random_number.random() * 0.002
        holds: list[Hold] = []

        async def at_hold(hold: Hold) -> None:
            holds.append(hold)  # noqa: B023
            if len(holds) == last:  # noqa: B023
                debugger.step()  # noqa: B023
                await asyncio.sleep(delay)  # noqa: B023  # somewhere within the step
                assert child.pid is not None  # noqa: B023
                os.kill(child.pid, signal.SIGKILL)  # noqa: B023
            else:
                debugger.step()  # noqa: B023

        debugger = Debugger(paused=True)
        async with asyncio.timeout(30):
            with pytest.raises(ChildEndedError, match="SIGKILL"):
                await drive(started.engine, key, text("go"), debugger, at_hold)
        committed = [event for event, _ in started.committed]
        again = await start_engine(newest, AGENTS / "line", sessions=sessions)
        stored = await again.engine.session(key)
        assert stored is not None
        assert [event.id for event in stored[1]][: len(committed)] == [event.id for event in committed]
        await drive(again.engine, key, None, invocation_id=stored[1][0].invocation_id)
        stored = await again.engine.session(key)
        assert stored is not None
        assert sorted(stored[0]) == sorted(uninterrupted)
        for one in (started, again):
            await one.engine.close()
            assert one.engine.child.pid is not None and not exists(one.engine.child.pid)
