"""The base class of environments: a folder, commands and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


@dataclass
class ExecutionResult:
    """What a command did.

    Attributes:
        exit_code: its exit status; negative if a signal ended it.
        stdout: its standard output.
        stderr: its standard error.
        timed_out: whether it was killed as its time was over.
    """

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False


class BaseEnvironment(ABC):
    """A folder in which an agent runs commands and works on files.

    Call `initialize` before the first use and `close` after the last one; both may be called again.

    Attributes:
        is_initialized: whether it can be used.
    """

    _is_initialized: bool = False

    @property
    def is_initialized(self) -> bool:
        """Whether it can be used."""
        return self._is_initialized

    @is_initialized.setter
    def is_initialized(self, value: bool) -> None:
        self._is_initialized = value

    async def initialize(self) -> None:  # noqa: B027 - an environment may need no preparation
        """Prepare it, such as by making its folder; does nothing by default."""

    async def close(self) -> None:  # noqa: B027
        """Release what it holds; does nothing by default."""

    @property
    @abstractmethod
    def working_dir(self) -> Path:
        """The absolute path of its folder."""

    @abstractmethod
    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:  # noqa: ASYNC109 - google-adk's
        """Run a command of the shell in the folder.

        Args:
            command: the shell's command line.
            timeout: its maximum duration in seconds; no limit if None.
        """

    @abstractmethod
    async def read_file(self, path: Path) -> bytes:
        """Return a file's content.

        Args:
            path: absolute, or relative to the folder.

        Raises:
            FileNotFoundError: there is no such file.
        """

    @abstractmethod
    async def write_file(self, path: Path, content: str | bytes) -> None:
        """Write a file, and the folders above it that do not exist.

        Args:
            path: absolute, or relative to the folder.
            content: text, which is written as UTF-8, or bytes.
        """
