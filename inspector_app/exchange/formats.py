"""The formats of an export: which one a file's name means, and writing the file."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors import StorageError
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.exchange.exported_session import ExportedSession
    from runtime.storage.connections import new_file
else:
    new_file = lazy_module("runtime.storage.connections.new_file")

FORMATS = {
    "html": ("Web page, with the data for an import", ".html"),
    "md": ("Markdown, with the data for an import", ".md"),
    "json": ("Session JSON of google-adk and adk web", ".json"),
    "jsonl": ("JSON lines, one event a line", ".jsonl"),
    "evalset": ("Eval set of google-adk", ".evalset.json"),
}
"""Name of a format → what it is, and the end of its files' names."""

_ENDS = {
    ".evalset.json": "evalset",
    ".test.json": "evalset",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
}


def format_of(name: str) -> str | None:
    """Return the format that a file's name means; None if it means none."""
    return next((kind for end, kind in _ENDS.items() if name.lower().endswith(end)), None)


def is_eval_set_name(path: str) -> bool:
    """Return whether a path is named as google-adk names eval sets: `*.evalset.json` or `*.test.json`."""
    return "://" not in path and path.lower().endswith((".evalset.json", ".test.json"))


def export_text(kind: str, sessions: Iterable[ExportedSession], title: str, *, single: bool) -> Iterator[str]:
    """Yield an export, piece by piece.

    Args:
        kind: one of `FORMATS`.
        sessions: the sessions; they are read once.
        title: names the export: the database.
        single: there is one session.
    """
    # Each format is loaded when it is asked for: most need google-genai.
    module = importlib.import_module
    if kind == "json":
        found: Iterator[str] = module("inspector_app.exchange.data_formats").session_json(sessions, single=single)
    elif kind == "jsonl":
        found = module("inspector_app.exchange.data_formats").json_lines(sessions)
    elif kind == "evalset":
        found = module("inspector_app.exchange.eval_cases").eval_set(sessions, Path(title).stem)
    elif kind == "md":
        found = module("inspector_app.exchange.markdown").markdown(sessions)
    else:
        found = module("inspector_app.exchange.page").page(sessions, f"{Path(title).name} · Agent Inspector")
    return found


def write_export(out: Path, written: str, text: Iterable[str], *, replaces: bool = False) -> None:
    """Write an export into a file, which has its name only when it is complete.

    Args:
        out: the file.
        written: its name as the user wrote it.
        text: the pieces.
        replaces: whether a file of this name is replaced.

    Raises:
        StorageError: the file exists and is not to be replaced, or cannot be written.
    """
    try:
        with new_file.unfinished_file(out, 0o600) as unfinished:  # a conversation may be private
            with unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(text)
            if replaces:
                unfinished.replace(out)
            else:
                new_file.give_name(unfinished, out)
    except OSError as error:
        raise StorageError(f"{written} cannot be written: {error.strerror or error}.") from error
