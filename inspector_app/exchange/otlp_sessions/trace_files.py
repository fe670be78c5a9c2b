"""Files of OpenTelemetry's traces: JSON lines, whole requests in JSON or protobuf, also compressed with gzip."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json, spans_of_protobuf
from runtime.errors.known_error import KnownError
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files
from runtime.support.bounded import MOST_BYTES, Budget, Content, TooMuchError
from runtime.support.linkless import open_named

DATABASE = "trace.db"
_HEAD = 64 * 2**10  # bytes in which a request begins
_GZIP = b"\x1f\x8b"
_REQUEST = re.compile(rb'(?:\A|\n)\s*\{\s*"resourceSpans"\s*:')
_SPAN = 1_500  # bytes that a span takes besides the values of its JSON


class TraceFileError(KnownError):
    """A file of traces that cannot be read, or that has no sessions; the message says why."""


class TraceFile(NamedTuple):
    """What a file of traces has.

    Attributes:
        sessions: the sessions.
        spans: how many spans there are.
        wrong: how many lines are no traces.
        unused: how many spans are of no agent.
    """

    sessions: dict[SessionKey, SessionCopy]
    spans: int
    wrong: int
    unused: int

    @property
    def left_out(self) -> str:
        """What was not used, as a sentence; empty if all was."""
        counts = {"lines that are no traces": self.wrong, "spans that are of no agent": self.unused}
        said = ", ".join(f"{name}: {count:,}" for name, count in counts.items() if count)
        return f"Not used: {said}." if said else ""


def is_trace_file(path: str) -> bool:
    """Return whether a path names a file of OpenTelemetry's traces, by how the file begins."""
    if "://" in path or path == "-":
        return False
    try:
        with open_files.reading(real_file(Path(path).expanduser())) as file:
            head = file.read(_HEAD)
    except (OSError, KnownError, ValueError):
        return False
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return False
    return _REQUEST.search(head.removeprefix(b"\xef\xbb\xbf")) is not None or _is_protobuf(head)


def read_trace_file(path: str, session: str | None = None) -> TraceFile:
    """Return the sessions of a file of traces.

    Args:
        path: the file.
        session: only the session with this id.

    Raises:
        TraceFileError: it cannot be read, or has no sessions.
    """
    # The runtime's events take long to load, and most files are no traces.
    from inspector_app.exchange.otlp_sessions.sessions import sessions_of_spans

    try:
        data = _content(Path(path).expanduser())
        spans, wrong = _spans(data)
    except OSError as error:
        raise TraceFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    except TooMuchError as error:
        raise TraceFileError(f"{path} {error}. Open a part of it, or split it.") from None
    except ValueError as error:
        raise TraceFileError(f"{path} {error}.") from None
    except OtlpError as error:
        raise TraceFileError(f"{path} is not read. {error}") from None
    sessions = sessions_of_spans(spans, session)
    if not sessions and session is None:
        found = f"Its {len(spans):,} spans are of no agent" if spans else "It has no spans"
        raise TraceFileError(f"{path} has no sessions. {found}: models and tools are in spans with the attribute gen_ai.operation.name.")
    return TraceFile(sessions, len(spans), wrong, _unused(spans))


def unpack_traces(path: str, folder: Path) -> tuple[Path, str]:
    """Write the sessions of a file of traces into a new database, and return it and what was not used.

    Args:
        path: the file of traces.
        folder: an existing folder.

    Raises:
        TraceFileError: see `read_trace_file`.
    """
    found = read_trace_file(path)
    database = folder / DATABASE
    asyncio.run(_store(database, found.sessions))
    return database, found.left_out


@contextmanager
def unpacked_traces(path: str) -> Iterator[tuple[str, str]]:
    """Yield what `unpack_traces` returns, in a private folder that is deleted at the end."""
    folder = Path(tempfile.mkdtemp(prefix="traces-"))
    try:
        database, left_out = unpack_traces(path, folder)
        yield str(database), left_out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _store(database: Path, sessions: Mapping[SessionKey, SessionCopy]) -> None:
    from inspector_app.exchange.imported_sessions import Imported
    from inspector_app.exchange.storing import store
    from runtime.storage.open_service import open_session_service

    async with open_session_service(str(database)) as service:
        await store(service, Imported(dict(sessions)))


def _content(path: Path) -> bytes:
    with open_named(path) as file:
        begin = file.read(2)
        content = Content("gzip" if begin == _GZIP else "")
        content.add(begin)
        while piece := file.read(2**20):
            content.add(piece)
    return content.whole()


def _spans(data: bytes) -> tuple[list[OtlpSpan], int]:
    """Return the spans of a file, and how many of its lines are no traces."""
    if _is_protobuf(data):
        return spans_of_protobuf(data), 0
    budget = Budget()
    first, _, rest = data.partition(b"\n")
    if rest and not first.rstrip().endswith(b"}"):  # one request over many lines, or a first line that was cut short
        try:
            return spans_of_json(data), 0
        except OtlpError:
            pass
    spans: list[OtlpSpan] = []
    wrong = 0
    for line in data.splitlines():
        if not line.strip():
            continue
        budget.take_json(line)
        try:
            found = spans_of_json(line)
        except OtlpError:
            wrong += 1
        else:
            budget.take(_SPAN * len(found))
            spans += found
    return spans, wrong


def _unused(spans: list[OtlpSpan]) -> int:
    from inspector_app.exchange.otlp_sessions.runs import traces_of

    used = sum(map(len, traces_of(spans)))
    return len({(span.trace_id, span.span_id) for span in spans}) - used


def _is_protobuf(data: bytes) -> bool:
    """Return whether data begin as a request in protobuf: a field 1 with a length, and in it a resource or the spans of a scope."""
    length = shift = 0
    if data[:1] != b"\x0a":
        return False
    for place, byte in enumerate(data[1:6], 2):
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            is_there = len(data) >= _HEAD or place + length <= len(data)
            return 2 < length <= MOST_BYTES and is_there and data[place : place + 1] in (b"\x0a", b"\x12")
    return False
