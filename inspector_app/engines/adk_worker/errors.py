"""The errors of the worker, and an error of the agent as JSON."""

from __future__ import annotations

import importlib.util
import shlex
import sys
import traceback
from pathlib import Path
from typing import Any

from .frames import is_agents, is_ours, is_workers
from .plugin_file import plugin

formatted = plugin.formatted
_WHOLE = {"sqlalchemy": "sqlalchemy[asyncio]<3", "greenlet": "sqlalchemy[asyncio]<3"}  # what google-adk needs of a module's package


class WorkerError(Exception):
    """A command cannot be done; the message is a sentence for the user.

    Attributes:
        details: further fields of the error message.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


def install_command(module: str) -> str:
    """Return the command that installs a module's package into this environment, to be pasted: nothing follows it in a sentence."""
    has_pip = importlib.util.find_spec("pip") is not None
    installer = (sys.executable, "-m", "pip", "install") if has_pip else ("uv", "pip", "install", "--python", sys.executable)
    return shlex.join((*installer, _WHOLE.get(module.partition(".")[0], module)))


def error_fields(error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return an exception as JSON: type, message, traceback from the agent's first frame on, and the place in the agent's code."""
    fields = plugin.error_fields(error, lambda file: is_agents(file, folder), lambda file: _is_shown(file, folder))
    file = fields["file"]
    if file is not None and folder is not None and Path(file).is_relative_to(folder):
        fields["within"] = str(Path(file).relative_to(folder))
    if isinstance(error, WorkerError):
        fields = {**fields, "type": "WorkerError", "traceback": None, **error.details}
    return fields


def place_of(error: BaseException, folder: Path | None) -> tuple[str | None, int | None]:
    """Return the file and line of the agent's code where an exception was raised, or where it called what raised it."""
    return plugin.place_of(error, lambda file: is_agents(file, folder))


def own_traceback(error: BaseException, folder: Path | None) -> str:
    """Format an exception's traceback from the agent's first frame on, without frames of the inspector; also those of its causes."""
    start = plugin.first_of(error, lambda file: is_agents(file, folder))
    return formatted(error, start, lambda file: _is_shown(file, folder))


def _is_shown(file: str, folder: Path | None) -> bool:
    return is_agents(file, folder) or not is_ours(file)


def of_command(kind: str, error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return the error of a command as JSON; a field that is missing is named."""
    place = traceback.extract_tb(error.__traceback__)[-1:]
    if isinstance(error, KeyError) and place and is_workers(place[0].filename):
        return error_fields(WorkerError(f"The command {kind!r} needs {plugin.text_of(error)}."), None)
    return error_fields(error, folder)
