"""A folder of this machine, in which commands run without a sandbox."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from runtime.environment.base_environment import BaseEnvironment, ExecutionResult
from runtime.environment.local_command import LocalCommand
from runtime.support.environment import harmless_variables
from runtime.support.worker_threads import run_in_thread


class LocalEnvironment(BaseEnvironment):
    """Runs commands in a folder of this machine. They may do anything that the user of this program may do.

    A command does not see the variables of this process's environment, among which keys may be, except for those that programs need,
    such as PATH. Files are read and written in the folder only. What commands started is killed by `close` at the latest.
    """

    def __init__(self, *, working_dir: Path | None = None, env_vars: dict[str, str] | None = None) -> None:
        """Describe it; nothing is made before `initialize`.

        Args:
            working_dir: the folder, which may not exist yet. If None, a temporary one is made, and removed by `close`.
            env_vars: variables for the commands.
        """
        self._working_dir = working_dir
        self._env_vars = env_vars
        self._auto_created = False
        self._commands: list[LocalCommand] = []  # those that run, and those that left processes behind

    @property
    def working_dir(self) -> Path:
        """The folder's path.

        Raises:
            RuntimeError: it has not been made yet.
        """
        if self._working_dir is None:
            raise RuntimeError("`working_dir` is not set. Call initialize() first.")
        return self._working_dir

    async def initialize(self) -> None:
        """Make the folder if it does not exist."""
        if self._working_dir is None:
            self._working_dir = Path(tempfile.mkdtemp(prefix="adk_workspace_"))
            self._auto_created = True
        else:
            await run_in_thread(os.makedirs, self._working_dir, exist_ok=True)
        self._is_initialized = True

    async def close(self) -> None:
        """Kill what commands started, and remove a temporary folder."""
        self._is_initialized = False
        stopped, self._commands = self._commands, []
        for command in stopped:
            command.stop()
        for command in stopped:
            await run_in_thread(command.wait_until_stopped)
        if self._auto_created and self._working_dir:
            removed, self._working_dir, self._auto_created = self._working_dir, None, False
            await run_in_thread(shutil.rmtree, removed, ignore_errors=True)

    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:  # noqa: ASYNC109 - google-adk's
        """Run a command; see `BaseEnvironment.execute`. If the call is cancelled, the command is killed.

        Raises:
            RuntimeError: the folder has not been made yet.
            OSError: the command cannot be started.
        """
        running = LocalCommand(command, self.working_dir, harmless_variables() | (self._env_vars or {}))
        self._commands = [*(kept for kept in self._commands if kept.is_needed), running]
        try:
            return await run_in_thread(running.run, timeout)
        except BaseException:
            running.stop()
            await run_in_thread(running.wait_until_stopped)
            raise

    async def read_file(self, path: str | Path) -> bytes:
        """Return a file's content; see `BaseEnvironment.read_file`.

        Raises:
            RuntimeError: the folder has not been made yet.
            ValueError: the file is outside the folder, also by way of a link, or not a file.
        """
        return await run_in_thread(_read, self.working_dir, path)

    async def write_file(self, path: str | Path, content: str | bytes) -> None:
        """Write a file; see `BaseEnvironment.write_file`.

        Raises:
            RuntimeError: the folder has not been made yet.
            ValueError: the file is outside the folder, also by way of a link, or not a file.
        """
        await run_in_thread(_write, self.working_dir, path, content)


def _inside(folder: Path, path: str | Path) -> Path:
    """Return the path of a file without links, once it is known to be in the folder."""
    found = (folder.resolve() / path).resolve()
    if not found.is_relative_to(folder.resolve()):
        raise ValueError(f"Path escapes working directory: {path}")
    if found.exists() and not found.is_file() and not found.is_dir():
        raise ValueError(f"Not a file: {path}")  # opening a pipe waits until something writes to it
    return found


def _read(folder: Path, path: str | Path) -> bytes:
    return _inside(folder, path).read_bytes()


def _write(folder: Path, path: str | Path, content: str | bytes) -> None:
    file = _inside(folder, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
