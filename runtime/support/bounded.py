"""Reading of what others wrote, files and answers alike: bounded, so that none of it can fill the memory.

The bound is the memory that a value takes, estimated before it is parsed. A few bytes of JSON become many of Python's: `[],` takes 26 times
its size, a long text with one emoji 5 times.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runtime.support.linkless import TooLargeError, open_named
from runtime.support.quick_json import from_json

MOST_MEMORY = 230_000_000  # bytes that everything read from one file or answer may take; a session of 10,000 events takes about 40 MB
MOST_BYTES = MOST_MEMORY // 2  # of a file or an answer that is one JSON value: its text, and the strings in it
VALUE = 104  # bytes that a value takes at most, such as an object with one key
EVENT = 3_000  # bytes that an event takes besides the values of its JSON
_PLAIN, _WIDE = 2, 5  # bytes for each byte of text; characters beyond Latin-1 make the whole of a string two or four times as wide

_STRUCTURE = (b",", b"[", b"{")
_STRING_OR_VALUE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[,\[{]', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_DEEPEST = 200  # brackets inside one another; the parser's own limit
_HIGH, _LOW = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(rb"(?<!\\)((?:\\\\)*+)(?:" + _HIGH + rb"(?!" + _LOW + rb")|(?<!" + _HIGH + rb")" + _LOW + rb")")
_MOST_HALVES = 100_000  # of surrogate pairs that are replaced; a match takes about 100 bytes
_BOM = b"\xef\xbb\xbf"


class TooMuchError(ValueError):
    """A value that would take more memory than there is for it; the message is the rest of a sentence after "it"."""


class Budget:
    """The memory that the values of one source may take together.

    Args:
        memory: bytes.
    """

    def __init__(self, memory: int = MOST_MEMORY) -> None:
        self._memory = memory
        self._left = memory

    def take(self, amount: int) -> None:
        """Reserve memory.

        Args:
            amount: bytes.

        Raises:
            TooMuchError: there is not as much left.
        """
        self._left -= amount
        if self._left < 0:
            raise TooMuchError(f"would take more than {self._memory // 1_000_000} MB of memory")

    def take_json(self, data: bytes) -> None:
        """Reserve the memory that JSON takes with its text.

        Raises:
            TooMuchError: there is not as much left.
        """
        width = _PLAIN if data.isascii() and b"\\u" not in data else _WIDE
        self.take(len(data) * width)
        self.take(VALUE * count_values(data, self._left // VALUE))

    def parse(self, data: bytes) -> Any:
        """Return a JSON value; halves of surrogate pairs, which no encoding can represent, become replacement characters.

        Args:
            data: its text in UTF-8, with or without a byte order mark.

        Raises:
            TooMuchError: it would take more memory than is left, or is nested too deeply.
            UnicodeDecodeError: it is not UTF-8.
            ValueError: it is not JSON.
        """
        self.take_json(data)
        data = data.removeprefix(_BOM)
        try:
            return from_json(data)
        except ValueError:
            data.decode()
            if _is_deep(data):
                raise TooMuchError("is nested too deeply") from None
            if b"\\ud" not in data and b"\\uD" not in data:
                raise
        return from_json(_HALF.sub(rb"\1\\ufffd", data, _MOST_HALVES))


class Content:
    """What arrives in pieces, unpacked as far as it fits.

    Args:
        encoding: the value of `Content-Encoding`.
        most: bytes of the longest content, unpacked; also of what arrives.

    Raises:
        ValueError: the encoding is another one than gzip, or several.
    """

    def __init__(self, encoding: str = "", most: int = MOST_BYTES) -> None:
        encoding = encoding.strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise ValueError(f"is compressed with {encoding[:40]}, not with gzip")
        self._unpacker = zlib.decompressobj(wbits=31) if "gzip" in encoding else None
        self._most = most
        self._arrived = 0
        self._data = bytearray()

    def add(self, piece: bytes) -> None:
        """Add the next piece.

        Raises:
            TooMuchError: the content is longer than allowed.
            ValueError: it is damaged.
        """
        self._arrived += len(piece)
        if self._unpacker is not None:
            try:
                # What follows the end of the compressed data is kept by the unpacker: it is not given more.
                piece = b"" if self._unpacker.eof else self._unpacker.decompress(piece, self._most - len(self._data) + 1)
            except zlib.error as error:
                raise ValueError(f"is no gzip: {error}") from None
        self._data += piece
        if max(self._arrived, len(self._data)) > self._most:
            raise TooMuchError(f"is longer than {self._most:,} bytes")

    def whole(self) -> bytes:
        """Return the content.

        Raises:
            ValueError: its end is missing.
        """
        if self._unpacker is not None and not self._unpacker.eof:
            raise ValueError("is no gzip: its end is missing")
        return bytes(self._data)


def parse(data: bytes, memory: int = MOST_MEMORY) -> Any:
    """Return a JSON value with a budget of its own; see `Budget.parse`."""
    return Budget(memory).parse(data)


def count_values(data: bytes, most: int) -> int:
    """Return how many values a JSON text has, without parsing it; a count above `most` is not exact.

    Each but the first follows a comma or an opening bracket outside of strings.
    """
    values = sum(map(data.count, _STRUCTURE))
    if values <= most or b'"' not in data:
        return values
    values = 0
    for match in _STRING_OR_VALUE.finditer(data):
        values += data[match.start()] != 0x22
        if values > most:
            break
    return values


def _is_deep(data: bytes) -> bool:
    """Return whether JSON has more brackets inside one another than are parsed."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(data):
        sign = data[match.start()]
        depth += (sign in b"[{") - (sign in b"]}")
        if depth > _DEEPEST:
            return True
    return False


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; links to it are followed.

    Args:
        path: the file.
        most: bytes of the largest file.

    Raises:
        TooLargeError: it is larger.
        LinkError: it is a FIFO, a device or a folder.
        OSError: it cannot be read.
    """
    with open_named(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLargeError(path, most)
    return data


def read_json_file(path: Path, as_error: Callable[[str], Exception]) -> Any:
    """Return the JSON value in a file that a person named.

    Args:
        path: the file.
        as_error: makes the error of a sentence that names the file.

    Raises:
        Exception: made by `as_error`: the file cannot be read, is too large, or is not JSON.
    """
    try:
        return parse(read_file(path))
    except FileNotFoundError:
        raise as_error(f"There is no file {path}.") from None
    except OSError as error:
        raise as_error(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise as_error(f"{path} is not text in UTF-8.") from None
    except TooMuchError as error:
        raise as_error(f"{path} {error}, so it is not read.") from None
    except ValueError as error:
        raise as_error(f"{path} is not JSON: {error}.") from None
