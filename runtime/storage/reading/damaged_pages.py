"""Rows of a damaged SQLite file, read page by page without SQLite. The format: https://www.sqlite.org/fileformat.html

A table is a tree of pages. Where a page of the tree is damaged, the pages below it are still in the file: every page that looks like a leaf
of a table is read, and the tree only tells to which table it belongs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

LEAF, _INTERIOR = 13, 5  # the first byte of a page of a table
_FILE_HEADER = 100  # bytes at the beginning of page 1
_DEEPEST = 24  # levels of a tree
_SIZES = tuple(2**power for power in range(9, 17))
_SAMPLE = 2 * 1024 * 1024  # bytes at the beginning that are read with each page size
_LEAST_USABLE = 480  # bytes of a page
_LONGEST = 1024 * 1024 * 1024  # bytes of a row
_OVERFLOWS, _SPARE = 4, 10_000  # reads of overflow pages for each page, and more: rows that share their pages must not take for ever
Value = None | int | float | str | bytes


class Row(NamedTuple):
    """A row of a table.

    Attributes:
        page: the page that it begins in.
        rowid: its number.
        values: its values; text that is not valid in the file's encoding is a `RawText`.
        is_whole: whether nothing of it is missing.
    """

    page: int
    rowid: int
    values: tuple[Value, ...]
    is_whole: bool


class RawText(bytes):
    """Text that is not valid UTF-8."""


@dataclass
class PageReader:
    """The pages of a file.

    Attributes:
        data: the file's content.
        size: bytes of a page.
        usable: bytes of a page that SQLite uses.
        encoding: of the texts.
        damaged: pages of a tree that could not be read.
        unreadable_rows: number of rows whose bytes make no sense.
    """

    data: memoryview
    size: int = 0
    usable: int = 0
    encoding: str = "utf-8"
    damaged: set[int] = field(default_factory=set)
    unreadable_rows: int = 0

    def __post_init__(self) -> None:
        self._overflow_left = _SPARE
        head = bytes(self.data[:_FILE_HEADER]).ljust(_FILE_HEADER, b"\0")
        self.encoding = {2: "utf-16-le", 3: "utf-16-be"}.get(head[59], "utf-8")
        named = struct.unpack(">H", head[16:18])[0]
        named = 65536 if named == 1 else named
        sizes = (named, *(size for size in _SIZES if size != named)) if named in _SIZES else _SIZES
        reserves = dict.fromkeys((head[20], 0))
        tried = [(size, size - reserved) for size in sizes for reserved in reserves if size - reserved >= _LEAST_USABLE]
        sound = [self._sound_rows(*each) for each in tried]
        self.size, self.usable = tried[sound.index(max(sound))]  # the first of equal ones: what the header says
        self.unreadable_rows = 0
        self._overflow_left = _OVERFLOWS * len(self) + _SPARE

    def __len__(self) -> int:
        """Return the number of pages, the last one of which may be cut."""
        return -(-len(self.data) // self.size)

    def page(self, number: int) -> memoryview:
        """Return a page; a cut one is shorter."""
        return self.data[(number - 1) * self.size : number * self.size]

    def kind(self, number: int) -> int:
        """Return the first byte of a page's header; 0 if the page does not exist."""
        page, start = self.page(number), self._start(number)
        return page[start] if len(page) > start + 8 else 0

    def leaves(self, root: int, seen: set[int]) -> Iterator[int]:
        """Yield the leaves of a table's tree, in order.

        Args:
            root: the tree's first page.
            seen: the pages that belong to a tree; each is read once.
        """
        waiting = [(root, 0)]
        while waiting:
            number, depth = waiting.pop()
            if number in seen or depth > _DEEPEST or not 1 <= number <= len(self):
                continue
            kind = self.kind(number)
            if kind == LEAF:
                seen.add(number)
                yield number
            elif kind == _INTERIOR:
                seen.add(number)
                waiting.extend((child, depth + 1) for child in reversed(self._children(number)))
            else:
                self.damaged.add(number)

    def free_pages(self) -> set[int]:
        """Return the pages that hold only deleted rows."""
        found: set[int] = set()
        trunk = _number(self.data, 32) if len(self.data) >= _FILE_HEADER else 0
        while 1 < trunk <= len(self) and trunk not in found:
            page = self.page(trunk)
            count = _number(page, 4)
            if len(page) < self.size or count > self.usable // 4 - 2:
                break
            listed = [_number(page, 8 + 4 * place) for place in range(count)]
            if any(not 1 < number <= len(self) for number in listed):
                break
            found |= {trunk, *listed}
            trunk = _number(page, 0)
        return found

    def rows(self, number: int) -> list[Row]:
        """Return the rows of a leaf."""
        page, start = self.page(number), self._start(number)
        found = []
        for at in self._cells(page, start, 8):
            row = self._row(number, page, at)
            if row is None:
                self.unreadable_rows += 1
            else:
                found.append(row)
        return found

    def is_leaf(self, number: int) -> bool:
        """Return whether a page looks like one with rows."""
        return self.kind(number) == LEAF

    def _start(self, number: int) -> int:
        return _FILE_HEADER if number == 1 else 0

    def _cells(self, page: memoryview, start: int, header: int) -> list[int]:
        """Return the positions of a page's cells."""
        if len(page) < start + header:
            return []
        count = (page[start + 3] << 8) | page[start + 4]
        first = start + header
        count = min(count, max(len(page) - first, 0) // 2)
        places = [(page[first + 2 * place] << 8) | page[first + 2 * place + 1] for place in range(count)]
        return [place for place in places if first <= place < min(self.usable, len(page))]

    def _children(self, number: int) -> list[int]:
        page, start = self.page(number), self._start(number)
        found = [_number(page, place) for place in self._cells(page, start, 12)]
        return [*found, _number(page, start + 8)]

    def _row(self, number: int, page: memoryview, at: int) -> Row | None:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        if at < 0 or not 1 < length <= min(_LONGEST, len(self.data)):
            return None
        payload = self._payload(page, at, length)
        values = self._values(payload, length)
        signed = rowid - (1 << 64) if rowid >> 63 else rowid
        return None if values is None else Row(number, signed, values, len(payload) == length)

    def _payload(self, page: memoryview, at: int, length: int) -> bytes:
        """Return a row's bytes; fewer than `length` if a page is missing."""
        most, usable = self.usable - 35, self.usable
        least = (usable - 12) * 32 // 255 - 23
        here = length if length <= most else least + (length - least) % (usable - 4)
        here = here if length <= most or here <= most else least
        parts = [bytes(page[at : min(at + here, usable)])]
        missing = length - here
        following = _number(page, at + here) if missing > 0 and at + here + 4 <= len(page) else 0
        passed: set[int] = set()
        while missing > 0 and 1 < following <= len(self) and following not in passed and self._overflow_left > 0:
            passed.add(following)
            self._overflow_left -= 1
            overflow = self.page(following)
            piece = bytes(overflow[4 : min(4 + missing, usable)])
            parts.append(piece)
            missing -= len(piece)
            following = _number(overflow, 0)
        return b"".join(parts)

    def _values(self, payload: bytes, length: int) -> tuple[Value, ...] | None:
        """Return the values of a record; None if its header makes no sense."""
        view = memoryview(payload)
        head, at = _varint(view, 0)
        if at < 0 or not at <= head <= len(payload):
            return None
        kinds = []
        while at < head:
            kind, at = _varint(view, at)
            if at < 0 or at > head or kind in (10, 11):
                return None
            kinds.append(kind)
        if head + sum(map(_length, kinds)) != length:
            return None
        values: list[Value] = []
        for kind in kinds:
            end = head + _length(kind)
            values.append(self._value(kind, payload[head:end]))
            head = end
        return tuple(values)

    def _value(self, kind: int, data: bytes) -> Value:
        if kind >= 12:
            return data if kind % 2 == 0 else self._text(data)
        if kind in (0, 8, 9):
            return None if kind == 0 else kind - 8
        if len(data) < _length(kind):
            return None
        if kind == 7:
            number: float = struct.unpack(">d", data)[0]
            return number
        return int.from_bytes(data, "big", signed=True)

    def _text(self, data: bytes) -> str | RawText:
        try:
            return data.decode(self.encoding)
        except UnicodeDecodeError:
            return RawText(data if self.encoding == "utf-8" else data.decode(self.encoding, "replace").encode())

    def _sound_rows(self, size: int, usable: int) -> int:
        """Return how many rows of a sample of the pages make sense with this page size."""
        self.size, self.usable = size, usable
        self._overflow_left = _SPARE
        last = min(len(self), _SAMPLE // size)
        return sum(len(self.rows(number)) for number in range(1, last + 1) if self.kind(number) == LEAF)


def _length(kind: int) -> int:
    """Return the bytes of a value of a serial type."""
    return (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _number(data: Sequence[int] | memoryview, at: int) -> int:
    """Return the four-byte number at a position; 0 if it is outside."""
    return int.from_bytes(bytes(data[at : at + 4]), "big") if at >= 0 and at + 4 <= len(data) else 0


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Return the number of up to nine bytes at a position, and the position after it; a negative one if it is cut."""
    value = 0
    for place in range(9):
        if not 0 <= at < len(data):
            return 0, -1
        byte = data[at]
        at += 1
        if place == 8:
            return (value << 8) | byte, at
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, at
    return value, at
