"""LangGraph's files for tests: each with what LangGraph's own API reads in it, and the comparison of the two."""

from __future__ import annotations

import getpass
import gzip
import hashlib
import importlib.util
import json
import shutil
import tarfile
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase

_PACKED = Path(__file__).parent / "data" / "langgraph.tar.xz"


@cache
def folder() -> Path:
    """Return the folder of the files, unpacked once for each version of the archive."""
    version = hashlib.sha256(_PACKED.read_bytes()).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / f"agent-inspector-langgraph-{getpass.getuser()}-{version}"
    if not place.exists():
        unpacked = Path(tempfile.mkdtemp(dir=place.parent, prefix=place.name))
        with tarfile.open(_PACKED) as archive:
            archive.extractall(unpacked, filter="data")
        for packed in unpacked.glob("langgraph/*.gz"):
            packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        try:
            unpacked.rename(place)
        except OSError:  # another test process was first
            shutil.rmtree(unpacked)
    return place / "langgraph"


def names() -> list[str]:
    """Return the names of the files."""
    return sorted(path.stem for path in folder().glob("*.sqlite"))


def copy_of(name: str, into: Path) -> Path:
    """Copy a file, with its write-ahead log, and return the copy."""
    source = folder() / f"{name}.sqlite"
    for suffix in ("", "-wal"):
        if source.with_name(source.name + suffix).exists():
            shutil.copy(source.with_name(source.name + suffix), into)
    return into / source.name


def threads(name: str) -> Iterator[dict[str, Any]]:
    """Yield what LangGraph's API read in each thread of a file."""
    for path in sorted(folder().glob(f"{name}.*.api.json")):
        found = json.loads(path.read_text("utf-8"))
        yield from (each for each in found.get("threads", [found]) if not each.get("superseded"))


def differences(database: StoredDatabase, thread: dict[str, Any]) -> list[str]:
    """Return in what a thread of a database differs from what LangGraph's API read."""
    found: list[str] = []
    tool = _Tool(database)
    options = Namespace(app=None, user=None, most=60, no_states=False)
    sessions, _ = tool.json("sessions", "")
    _checker().check_thread(tool, "", sessions, thread, lambda kind, text: found.append(text) if kind == "fail" else None, options)
    return found


@cache
def _checker() -> Any:
    spec = importlib.util.spec_from_file_location("check_langgraph", folder() / "check_langgraph.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Tool:
    """The answers of the command line, without its process."""

    def __init__(self, database: StoredDatabase) -> None:
        self._database = database

    def json(self, command: str, _file: str, *options: str) -> tuple[Any, str]:
        if command == "sessions":
            pending = self._database.pending()
            keys = [summary.key for summary in self._database.sessions()]
            return [{**key._asdict(), "id": key.session_id, "pending": [*pending.get(key, ())]} for key in keys], ""
        key = SessionKey(options[1], options[3], options[4].partition("=")[2])
        events = self._database.events(key)
        if command == "events":
            answer = [json.loads(event.model_dump_json(exclude_none=True)) for event in events]
            return answer, json.dumps(answer, ensure_ascii=False)
        if "--at" not in options:
            return self._database.state(key), ""
        return self._state_at(key, [event.id for event in events].index(options[options.index("--at") + 1])), ""

    def _state_at(self, key: SessionKey, index: int) -> dict[str, Any]:
        return dict(self._database.history(key).state_at(index).merged())


def told(found: Sequence[str]) -> str:
    """Return differences as a text for an assertion."""
    return "\n".join(found)
