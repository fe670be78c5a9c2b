"""Bug capsules: one file with all that is known of a session, for another machine without the agent's code.

A capsule is a ZIP file of JSON parts: `capsule.json` (what it is of), `session.jsonl` (the session, as `export` writes it), `requests.json`
(what models were asked), `artifacts.json` (the files). Nothing in it is unpacked by its name, and nothing in it is code.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from runtime.errors import KnownError
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files
from runtime.support.bounded import EVENT, MOST_BYTES, Budget, TooMuchError
from runtime.support.linkless import open_named

Json = dict[str, Any]
FORMAT = 1
SUFFIX = ".capsule"
_MOST_AT_ONCE = 2**20  # bytes that are read of a file at once: the list of an archive with a million members is longer
PARTS = ("capsule.json", "session.jsonl", "requests.json", "artifacts.json")


class WriteOfOthers(msgspec.Struct):
    """What another session wrote to shared keys before an event, whose place is counted from the capsule's first event."""

    place: int
    delta: Json


class Started(msgspec.Struct):
    """What a capsule's events started from; see `started_from`."""

    state: Json
    unknown: list[str] = []
    others: list[WriteOfOthers] = []


class _Contents(msgspec.Struct):
    contents: list[Json]


class _Asked(msgspec.Struct):
    agent: str
    request: _Contents


class CapsuleError(KnownError):
    """A file that is no capsule, or not a whole one."""


@dataclass(slots=True)
class Capsule:
    """The content of a capsule.

    Attributes:
        about: `format`, `made_by`, `app_name`, `user_id`, `session_id`, `agent` (its description; None if it is not known),
            `replaced` (where secrets were), `source` (the database's name), `started` (see
            `started_from`).
        session: JSON lines.
        requests: what models were asked: for each event that is an answer, its `event_id` and the `request`.
        artifacts: the files: `filename`, `version`, `part`.
        samples: place → what is there in place of a secret, of a capsule that was not read from a file.
    """

    about: Json
    session: str
    requests: list[Json] = field(default_factory=list)
    artifacts: list[Json] = field(default_factory=list)
    samples: dict[str, str] = field(default_factory=dict)

    @property
    def events(self) -> list[Json]:
        """The events as google-adk's event JSON."""
        return [json.loads(line) for line in self._lines[1:]]

    @property
    def started(self) -> Started:
        """What the events started from: see `started_from`; an older capsule has only the session's own first state."""
        own = json.loads(self._lines[0])["session"].get("initial_state") or {}
        return msgspec.convert({"state": own, **self.about.get("started", {})}, Started)

    def files(self, content: Callable[[Any], Any]) -> Iterator[tuple[str, int, Any]]:
        """Yield the files, each with its name, version and content, a name's versions in order.

        Args:
            content: returns a content from its JSON object.

        Raises:
            CapsuleError: one is damaged.
        """
        try:
            for one in sorted(self.artifacts, key=lambda one: (one["filename"], one["version"])):
                yield str(one["filename"]), int(one["version"]), content(one["part"])
        except (KeyError, TypeError, ValueError):
            raise CapsuleError("A file in the capsule is damaged.") from None

    @property
    def _lines(self) -> list[str]:
        return self.session.rstrip("\n").split("\n")  # not `splitlines`: U+2028 and others do not end a line


def write_capsule(capsule: Capsule, out: Path) -> None:
    """Write a capsule into a file, which exists and is empty.

    Args:
        capsule: the content.
        out: the file.

    Raises:
        CapsuleError: it would be too large to be read again.
    """
    parts = (json.dumps(capsule.about), capsule.session, json.dumps(capsule.requests), json.dumps(capsule.artifacts))
    texts = [text.encode("utf-8", "backslashreplace") for text in parts]  # half of a surrogate pair becomes JSON's escape for it
    budget = Budget()
    try:
        for text in texts:
            budget.take_json(text)
        budget.take(EVENT * capsule.session.count("\n"))
    except TooMuchError as error:
        raise CapsuleError(f"The capsule {error}, more than is read again. Make one of fewer events.") from None
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in zip(PARTS, texts, strict=True):
            file.writestr(name, text)


def is_capsule(path: str) -> bool:
    """Return whether a path names a capsule: by its name, and by how the file begins."""
    if "://" in path or not path.endswith(SUFFIX):
        return False
    try:
        with open_files.reading(real_file(Path(path).expanduser())) as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def read_capsule(path: Path) -> Capsule:
    """Return a capsule's content.

    Raises:
        CapsuleError: it is no capsule, damaged, too large, or of a later version.
    """
    budget = Budget()
    try:
        with open_named(path) as opened, zipfile.ZipFile(cast(BinaryIO, _Pieces(opened))) as file:
            if len({each.filename for each in file.infolist()}) < len(file.infolist()):
                raise ValueError("it has two parts of one name")  # programs differ in which one they read
            about, session, requests, artifacts = (_part(file, name) for name in PARTS)
        found = Capsule(budget.parse(about), _checked_lines(session, budget), budget.parse(requests), budget.parse(artifacts))
        events = found.events
    except TooMuchError as error:
        raise CapsuleError(f"{path} {error}, so it is not read.") from None
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise CapsuleError(f"{path} is no capsule, or a damaged one: {error}.") from None
    except FileNotFoundError:
        raise CapsuleError(f"There is no file {path}.") from None
    except OSError as error:
        raise CapsuleError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not isinstance(found.about, dict) or found.about.get("format") != FORMAT:
        raise CapsuleError(f"{path} is no capsule of format {FORMAT}, which is what this version reads.")
    lists = (found.requests, found.artifacts, events)
    if not all(isinstance(one, list) and all(isinstance(item, Mapping) for item in one) for one in lists):
        raise CapsuleError(f"{path} is a damaged capsule: its parts are not lists of objects.")
    try:
        _ = found.started
        msgspec.convert(found.about.get("asked"), list[_Asked] | None)
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CapsuleError(f"{path} is a damaged capsule: what it says of its session has another form.") from None
    return found


class _Pieces(io.RawIOBase):
    """A file of which only short pieces are read: an archive says itself how long its parts are."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable  # type: ignore[method-assign]

    def read(self, size: int = -1, /) -> bytes:
        """Return a piece of the file."""
        if size > _MOST_AT_ONCE:
            raise TooMuchError("is an archive of too many files")
        return self._file.read(size if size >= 0 else _MOST_AT_ONCE)


def _part(file: zipfile.ZipFile, name: str) -> bytes:
    about = file.getinfo(name)
    if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in a way that no capsule is")  # the others may reserve memory by their own head
    data = bytearray()
    with file.open(about) as part:
        while piece := part.read(_MOST_AT_ONCE):  # the size that an archive declares may be wrong
            data += piece
            if len(data) > MOST_BYTES:
                raise TooMuchError(f"has more than {MOST_BYTES:,} bytes in {name}")
    return bytes(data)


def _checked_lines(data: bytes, budget: Budget) -> str:
    """Return JSON lines as text; the budget has room for their events."""
    budget.take_json(data)
    budget.take(EVENT * data.count(b"\n"))
    return data.decode("utf-8")
