"""Whether a file has OpenTelemetry's traces, without loading what reads them."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

from runtime.errors.known_error import KnownError
from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files
from runtime.support.bounded import MOST_BYTES

GZIP = b"\x1f\x8b"
_HEAD = 64 * 2**10  # bytes in which a request begins
_REQUEST = re.compile(rb'(?:\A|\n)[ \t\r]*\{\s*"resourceSpans"\s*:')


def is_trace_file(path: str) -> bool:
    """Return whether a path names a file of OpenTelemetry's traces, by how the file begins."""
    if "://" in path or path == "-":
        return False
    try:
        with open_files.reading(real_file(Path(path).expanduser())) as file:
            head = file.read(_HEAD)
    except (OSError, KnownError, ValueError):
        return False
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _HEAD)
        except zlib.error:
            return False
    return _REQUEST.search(head.removeprefix(b"\xef\xbb\xbf")) is not None or is_protobuf(head)


def is_protobuf(data: bytes) -> bool:
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
