"""Reading of files of OpenTelemetry's traces: JSON lines, whole requests in JSON or protobuf, also compressed with gzip."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from inspector_app.exchange.otlp_sessions.runs import traces_of
from inspector_app.exchange.otlp_sessions.sessions import TracedCall, copy_of, ends_of, joined, sessions_of_spans
from inspector_app.exchange.otlp_sessions.trace_files import GZIP, is_protobuf
from inspector_app.support.otlp import OtlpError, OtlpSpan, spans_of_json, spans_of_protobuf
from runtime.errors.known_error import KnownError
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.support.bounded import Budget, Content, TooMuchError
from runtime.support.linkless import open_named

_SPAN = 1_500  # bytes that a span takes besides the values of its JSON


class TraceFileError(KnownError):
    """A file of traces that cannot be read, or that has no sessions; the message says why."""


class TraceFile(NamedTuple):
    """What a file of traces has.

    Attributes:
        sessions: the sessions.
        calls: their model calls.
        ends: how their invocations ended, as far as that is known.
        spans: how many spans there are.
        wrong: how many lines are no traces.
        unused: how many spans are of no agent.
    """

    sessions: dict[SessionKey, SessionCopy]
    calls: dict[SessionKey, list[TracedCall]]
    ends: dict[SessionKey, dict[str, RecordedEnd]]
    spans: int
    wrong: int
    unused: int

    @property
    def left_out(self) -> str:
        """What was not used, as a sentence; empty if all was."""
        counts = {"lines that are no traces": self.wrong, "spans that are of no agent": self.unused}
        said = ", ".join(f"{name}: {count:,}" for name, count in counts.items() if count)
        return f"Not used: {said}." if said else ""


def read_trace_file(path: str, session: str | None = None) -> TraceFile:
    """Return the sessions of a file of traces.

    Args:
        path: the file.
        session: only the session with this id.

    Raises:
        TraceFileError: it cannot be read, or has no sessions.
    """
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
    copies = {key: copy_of(joined(turns)) for key, turns in sessions.items()}
    calls = {key: [call for turn in turns for call in turn.calls] for key, turns in sessions.items()}
    ends = {key: ends_of(turns) for key, turns in sessions.items()}
    return TraceFile(copies, calls, ends, len(spans), wrong, _unused(spans))


def _content(path: Path) -> bytes:
    with open_named(path) as file:
        begin = file.read(2)
        content = Content("gzip" if begin == GZIP else "")
        content.add(begin)
        while piece := file.read(2**20):
            content.add(piece)
    return content.whole()


def _spans(data: bytes) -> tuple[list[OtlpSpan], int]:
    """Return the spans of a file, and how many of its lines are no traces."""
    if is_protobuf(data):
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
    used = sum(map(len, traces_of(spans)))
    return len({(span.trace_id, span.span_id) for span in spans}) - used
