"""Tracebacks of agents, kept beside the preferences, so that they can be read after a restart.

The databases of sessions are not touched: many of them belong to other programs. What agents print is not kept, because it may hold keys.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from inspector_app.documents.session_address import MEMORY, SessionAddress
from inspector_app.engines.agent_output import OutputLine, OutputSource
from inspector_app.support.data_folder import unsaved_folder
from runtime.support.bounded import parse, read_file

MAX_TEXT = 20_000  # characters of one traceback: its end
MAX_FILE = 1_000_000  # bytes of one session's tracebacks; later ones are not kept
MAX_FILES = 500  # sessions; the oldest files are deleted


class TracebackStore:
    """One file of JSON lines for each session.

    Args:
        folder: where the files are; made when the first traceback is kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, address: SessionAddress, tracebacks: Sequence[tuple[str, OutputLine]]) -> None:
        """Append tracebacks. Blocks; failures are ignored, as the tracebacks are displayed anyhow.

        Args:
            address: the session; one in memory is not kept.
            tracebacks: ids of events, and their tracebacks.
        """
        if address.database == MEMORY:
            return
        text = "".join(f"{json.dumps(_record(event_id, line))}\n" for event_id, line in tracebacks)
        file = self._file(address)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with os.fdopen(descriptor, "ab") as opened:
                if opened.tell() < MAX_FILE:
                    if opened.tell():  # a process that was killed has left half a line
                        opened.write(b"\n")
                    opened.write(text.encode("utf-8", "backslashreplace"))
            self._delete_oldest()
        except OSError:
            return

    def read(self, address: SessionAddress) -> list[tuple[str, OutputLine]]:
        """Return a session's tracebacks with the ids of their events, the oldest first. Blocks."""
        try:
            lines = read_file(self._file(address), 2 * MAX_FILE).split(b"\n")
        except OSError:
            return []
        return [found for line in lines if (found := _read(line)) is not None]

    def _file(self, address: SessionAddress) -> Path:
        name = json.dumps([address.database, *address.key])
        unsaved = unsaved_folder(address.database)
        folder = unsaved / "tracebacks" if unsaved is not None else self._folder  # deleted with the sessions
        return folder / f"{hashlib.blake2s(name.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}.jsonl"

    def _delete_oldest(self) -> None:
        files = list(self._folder.glob("*.jsonl"))
        if len(files) > MAX_FILES:
            files.sort(key=lambda file: file.stat().st_mtime)
            for file in files[: len(files) - MAX_FILES]:
                file.unlink(missing_ok=True)


def _record(event_id: str, line: OutputLine) -> dict[str, object]:
    source = line.source or OutputSource()
    names = {"agent": source.agent, "branch": source.branch, "call_id": source.call_id, "tool": source.tool}
    return {"event": event_id, "time": line.time, "text": line.text[-MAX_TEXT:], **names}


def _read(text: bytes) -> tuple[str, OutputLine] | None:
    try:
        given = parse(text)
        source = OutputSource(str(given["agent"]), given["branch"], given["call_id"], str(given["tool"]))
        return str(given["event"]), OutputLine("traceback", str(given["text"]), source, float(given["time"]))
    except (ValueError, TypeError, KeyError):  # half a line, or another program's
        return None
