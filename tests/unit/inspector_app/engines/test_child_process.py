"""The messages between the inspector and a child, with real processes of the Python that runs the tests. No agent is needed for these."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from inspector_app.engines import child_process
from inspector_app.engines.adk_worker.errors import error_fields
from inspector_app.engines.child_process import ChildEndedError, ChildError, ChildProcess


@pytest_asyncio.fixture
async def child() -> AsyncIterator[ChildProcess]:
    child = ChildProcess(sys.executable)
    await child.start()
    yield child
    await child.close()


def write_line(child: ChildProcess, line: bytes) -> None:
    os.write(child._commands, line + b"\n")


async def test_the_first_message_says_who_speaks(child: ChildProcess) -> None:
    assert child.hello["protocol"] == child_process.PROTOCOL
    assert child.hello["python"] == sys.version.split()[0]
    assert child.pid != os.getpid()


MALFORMED = [
    b"not json",
    b"[1, 2]",
    b"null",
    b"{}",
    b"",
    b"\xff\xfe",
    b"[" * 10_000,
    b'{"type": "dance"}',
    b'{"type": []}',
    b'{"type": "go"}',
]


@pytest.mark.parametrize("line", MALFORMED)
async def test_a_malformed_line_is_answered_with_an_error_and_the_next_one_is_read(child: ChildProcess, line: bytes) -> None:
    write_line(child, line)
    error = await child.receive()
    assert error["type"] == "error" and error["error"]["message"]
    assert await child.where()


async def test_a_malformed_request_is_answered_with_its_id(child: ChildProcess) -> None:
    with pytest.raises(ChildError, match=r"There is no command 'dance'"):
        await child.request("dance")
    with pytest.raises(ChildError, match="The services are not open"):
        await child.request("get_session", user_id="u", session_id="s")
    with pytest.raises(ChildError, match="speaks version 3 of the protocol, not 99"):
        await child.request("load", path="nowhere", protocol=99)


async def test_half_a_surrogate_pair_is_read(child: ChildProcess) -> None:
    write_line(child, b'{"type": "dance", "id": "\\ud83d"}')
    assert (await child.receive())["id"] == "\ud83d"


async def test_a_missing_field_is_named(child: ChildProcess) -> None:
    with pytest.raises(ChildError, match=r"'path'|google-adk is not installed"):
        await child.request("load", protocol=child_process.PROTOCOL)


async def test_a_python_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ChildEndedError, match=r"no_python cannot be started: No such file"):
        await ChildProcess(tmp_path / "no_python").start()


async def test_windows_starts_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ChildEndedError, match="on Linux and macOS only"):
        await ChildProcess(sys.executable).start()


async def test_a_program_that_is_no_python_is_an_error() -> None:
    with pytest.raises(ChildEndedError, match="ended by itself, with exit status 0"):
        await ChildProcess("/bin/true").start()


async def test_a_program_that_does_not_report_is_ended_in_time(tmp_path: Path) -> None:
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 3600\n")
    script.chmod(0o755)
    child = ChildProcess(script)
    with pytest.raises(ChildEndedError, match=r"did not report within 0\.2 s"):
        await child.start(0.2)


async def test_a_program_that_writes_something_else_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "python"
    code = "import os, sys, time; os.write(int(sys.argv[3]), b'hello\\n'); time.sleep(3600)"
    script.write_text(f"#!{sys.executable}\n{code}\n")
    script.chmod(0o755)
    with pytest.raises(ChildEndedError, match="a line that is no message: hello"):
        await ChildProcess(script).start(5)


async def test_requests_fail_when_the_child_ends(child: ChildProcess) -> None:
    child.kill("It was time.")
    with pytest.raises(ChildEndedError, match=r"It was time\."):
        await child.request("get_session", user_id="u", session_id="s")
    with pytest.raises(ChildEndedError):
        await child.receive()


async def test_closing_twice_and_after_the_end_is_harmless(child: ChildProcess) -> None:
    await child.close()
    await child.close()
    assert child.ended is not None and child.ended.status == 0


async def test_no_descriptor_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        child = ChildProcess(sys.executable)
        await child.start()
        await child.close()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_an_error_names_the_agents_file_relative_to_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "agent.py"
    file.write_text("x = 1\nraise OSError('no key')\n")
    with pytest.raises(OSError, match="no key") as caught:
        exec(compile(file.read_text(), str(file), "exec"), {})
    fields = error_fields(caught.value, tmp_path)
    within = str(Path("sub", "agent.py"))
    assert (fields["within"], fields["line"]) == (within, 2)
    assert str(ChildError(fields)) == f"OSError: no key ({within}, line 2)."
