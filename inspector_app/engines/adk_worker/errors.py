"""The errors of the worker, and an error of the agent as JSON."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from .frames import is_agents, is_ours, is_workers
from .texts import MAX_TEXT, text_of, type_name


class WorkerError(Exception):
    """A command cannot be done; the message is a sentence for the user.

    Attributes:
        details: further fields of the error message.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


class RaisedByHandError(RuntimeError):
    """The user made a tool call fail."""


def error_fields(error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return an exception as JSON: type, message, traceback from the agent's first frame on, and the place in the agent's code."""
    file, line = place_of(error, folder)
    message = text_of(error)
    if issubclass(type(error), SystemExit):  # `isinstance` would ask the object's own `__class__`
        code = getattr(error, "code", None)
        message = f"The agent's code called sys.exit({'' if code is None else text_of(code, repr)})."
    fields = {"type": type_name(error), "message": message, "traceback": own_traceback(error, folder), "file": file, "line": line}
    if file is not None and folder is not None and Path(file).is_relative_to(folder):
        fields["within"] = str(Path(file).relative_to(folder))
    if isinstance(error, WorkerError):
        fields = {**fields, "type": "WorkerError", "traceback": None, **error.details}
    return fields


def place_of(error: BaseException, folder: Path | None) -> tuple[str | None, int | None]:
    """Return the file and line of the agent's code where an exception was raised, or where it called what raised it."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_agents(frame.filename, folder)]
    return (frames[-1].filename, frames[-1].lineno) if frames else (None, None)


def own_traceback(error: BaseException, folder: Path | None) -> str:
    """Format an exception's traceback from the agent's first frame on, without frames of the inspector; also those of its causes."""
    start: TracebackType | None = error.__traceback__
    while start is not None and not is_agents(start.tb_frame.f_code.co_filename, folder):
        start = start.tb_next
    return formatted(error, start, lambda file: is_agents(file, folder) or not is_ours(file))


def formatted(error: BaseException, start: TracebackType | None, shown: Callable[[str], bool] = lambda file: True) -> str:
    """Format an exception's traceback with those of its causes; its frames alone, and its message, if the code of one of them fails.

    Args:
        error: the exception.
        start: its first frame that is shown.
        shown: whether the frames of a file are shown.
    """
    try:
        return _formatted(error, start, shown)
    except BaseException:  # the code of one of the exceptions, or of a note: a property may raise anything
        frames = [frame for frame in traceback.extract_tb(start) if shown(frame.filename)]
        return "".join((*traceback.format_list(frames), f"{type_name(error)}: {text_of(error)}\n"))[-MAX_TEXT:]


def _formatted(error: BaseException, start: TracebackType | None, shown: Callable[[str], bool]) -> str:
    described = traceback.TracebackException(type(error), error, start)
    remaining = [described]
    seen: set[int] = set()
    while remaining:
        one = remaining.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        one.stack[:] = [frame for frame in one.stack if shown(frame.filename)]
        said = getattr(one, "_str", None)
        if isinstance(said, str) and len(said) > MAX_TEXT:
            one._str = text_of(said)  # type: ignore[attr-defined]  # formatting would copy a gigabyte several times
        remaining += [other for other in (one.__cause__, one.__context__, *(getattr(one, "exceptions", None) or ())) if other is not None]
    return "".join(described.format())[-MAX_TEXT:]


def of_command(kind: str, error: BaseException, folder: Path | None) -> dict[str, Any]:
    """Return the error of a command as JSON; a field that is missing is named."""
    place = traceback.extract_tb(error.__traceback__)[-1:]
    if isinstance(error, KeyError) and place and is_workers(place[0].filename):
        return error_fields(WorkerError(f"The command {kind!r} needs {text_of(error)}."), None)
    return error_fields(error, folder)
