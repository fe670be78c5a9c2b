"""Commands and files in a folder of this machine, their limits and their end."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.environment import BaseEnvironment, ExecutionResult, LocalEnvironment, local_command

pytestmark = pytest.mark.rule("R11")

SECONDS = 20.0  # never reached: what is waited for has happened, or happens at once


@asynccontextmanager
async def opened(folder: Path | None, **settings: Any) -> AsyncIterator[LocalEnvironment]:
    environment = LocalEnvironment(working_dir=folder, **settings)
    await environment.initialize()
    try:
        yield environment
    finally:
        await environment.close()


class Lifeline:
    """A pipe `alive` that commands hold open with `exec 3> alive`, and their children with them."""

    def __init__(self, folder: Path) -> None:
        os.mkfifo(folder / "alive")
        self._reader = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)

    def close(self) -> None:
        os.close(self._reader)

    def is_held(self) -> bool:
        """Return whether some process is alive; called once a command has opened the pipe."""
        try:
            return os.read(self._reader, 1) != b""
        except BlockingIOError:
            return True

    def wait_until_released(self) -> None:
        """Wait until the last process has ended."""
        if self.is_held():
            assert select.select([self._reader], [], [], SECONDS)[0]
        assert not self.is_held()


@pytest.fixture
def lifeline(tmp_path: Path) -> Iterator[Lifeline]:
    line = Lifeline(tmp_path)
    yield line
    line.close()


async def content_of(pipe: Path) -> str:
    """Return what a command writes to a pipe, once it does."""
    return await asyncio.to_thread(pipe.read_text)


async def test_a_command_runs_in_the_folder(tmp_path: Path) -> None:
    async with opened(tmp_path / "new" / "folder") as environment:
        result = await environment.execute("pwd; echo ü >&2; cat; exit 3")
        assert result == ExecutionResult(3, f"{tmp_path}/new/folder\n", "ü\n", False)
        assert isinstance(environment, BaseEnvironment)
        assert environment.is_initialized
    assert not environment.is_initialized
    assert (tmp_path / "new" / "folder").is_dir()


async def test_a_temporary_folder_is_removed() -> None:
    environment = LocalEnvironment()
    with pytest.raises(RuntimeError, match="Call initialize"):
        await environment.execute("true")
    await environment.initialize()
    folder = environment.working_dir
    await environment.initialize()
    assert environment.working_dir == folder
    assert folder.name.startswith("adk_workspace_")
    await environment.write_file("a/b.txt", "x")
    await environment.close()
    await environment.close()
    assert not folder.exists()
    with pytest.raises(RuntimeError, match="Call initialize"):
        await environment.read_file("a/b.txt")


async def test_commands_see_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "secret-key")
    async with opened(tmp_path, env_vars={"MODE": "fast"}) as environment:
        result = await environment.execute("env")
    assert "secret-key" not in result.stdout
    assert "MODE=fast\n" in result.stdout
    assert f"PATH={os.environ['PATH']}\n" in result.stdout


async def test_after_its_time_a_command_and_its_children_are_killed(tmp_path: Path, lifeline: Lifeline) -> None:
    async with opened(tmp_path) as environment:
        result = await environment.execute("exec 3> alive; sleep 1000 & wait", timeout=0.3)
        lifeline.wait_until_released()
    assert result == ExecutionResult(-15, "", "", True)


async def test_children_that_ignore_the_request_to_end_are_killed(
    tmp_path: Path, lifeline: Lifeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_command, "GRACE_SECONDS", 0.2)
    async with opened(tmp_path) as environment:
        result = await environment.execute("exec 3> alive; trap '' TERM; while :; do sleep 1000; done", timeout=0.3)
        lifeline.wait_until_released()
    assert result.timed_out
    assert result.exit_code in (-9, -15)  # the second if it had no time to ignore the first request


async def test_a_cancelled_command_is_killed(tmp_path: Path, lifeline: Lifeline) -> None:
    os.mkfifo(tmp_path / "started")
    async with opened(tmp_path) as environment:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(environment.execute("exec 3> alive; echo > started; sleep 1000 & wait"))
            await content_of(tmp_path / "started")
            assert lifeline.is_held()
            running.cancel()
        assert running.cancelled()
        lifeline.wait_until_released()


async def test_closing_kills_what_runs(tmp_path: Path, lifeline: Lifeline) -> None:
    os.mkfifo(tmp_path / "started")
    async with opened(tmp_path) as environment, asyncio.TaskGroup() as group:
        running = group.create_task(environment.execute("exec 3> alive; echo before; echo > started; sleep 1000 & wait"))
        await content_of(tmp_path / "started")
        await environment.close()
        lifeline.wait_until_released()
    assert running.result() == ExecutionResult(-9, "before\n")


async def test_closing_kills_what_was_left_running(tmp_path: Path, lifeline: Lifeline) -> None:
    async with opened(tmp_path) as environment:
        left = await environment.execute("exec 3> alive; sleep 1000 > /dev/null 2>&1 &")
        assert left == ExecutionResult()
        await environment.execute("true")
        assert lifeline.is_held()
        await environment.close()
        lifeline.wait_until_released()


async def test_ended_commands_are_forgotten(tmp_path: Path) -> None:
    async with opened(tmp_path) as environment:
        for _ in range(3):
            await environment.execute("true")
        assert len(environment._commands) == 1


async def test_the_loop_runs_meanwhile(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "told")
    async with opened(tmp_path) as environment:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(environment.execute("cat told"))
            group.create_task(environment.execute("echo hello > told"))
        assert running.result().stdout == "hello\n"


async def test_endless_output_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_command, "MAX_OUTPUT", 1000)
    async with opened(tmp_path) as environment:
        result = await environment.execute("head -c 300000 /dev/zero | tr '\\0' x")
    assert (len(result.stdout), result.exit_code) == (1000, 0)


async def test_a_command_that_cannot_start_raises(tmp_path: Path) -> None:
    async with opened(tmp_path / "gone") as environment:
        environment.working_dir.rmdir()
        with pytest.raises(FileNotFoundError):
            await environment.execute("true")


async def test_files_keep_their_bytes(tmp_path: Path) -> None:
    async with opened(tmp_path) as environment:
        await environment.write_file("a/b.txt", "one\r\nü\n")
        await environment.write_file(tmp_path / "c", b"\x00\xff")
        assert await environment.read_file("a/b.txt") == "one\r\nü\n".encode()
        assert await environment.read_file("c") == b"\x00\xff"
        with pytest.raises(FileNotFoundError):
            await environment.read_file("none")


@pytest.mark.parametrize("path", ["../outside", "link/outside", "direct", "/etc/hostname"])
async def test_files_outside_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").write_text("theirs")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    (folder / "direct").symlink_to(tmp_path / "outside")
    async with opened(folder) as environment:
        with pytest.raises(ValueError, match=f"Path escapes working directory: {path}"):
            await environment.read_file(path)
        with pytest.raises(ValueError, match="Path escapes working directory"):
            await environment.write_file(path, "mine")
    assert (tmp_path / "outside").read_text() == "theirs"


async def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    async with opened(tmp_path) as environment:
        with pytest.raises(ValueError, match="Not a file: pipe"):
            await environment.read_file("pipe")
        with pytest.raises(ValueError, match="Not a file: pipe"):
            await environment.write_file("pipe", "x")
