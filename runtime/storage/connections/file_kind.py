"""Detection of what a file is that is not an SQLite database, from its first bytes."""

from __future__ import annotations

from pathlib import Path

from runtime.storage.connections.companions import real_file
from runtime.storage.connections.open_files import open_files

_SQLITE = b"SQLite format 3\0"
_LOOKED_AT = 4_096  # bytes
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (or an office document, which is one)",
    b"\x1f\x8b": "compressed with gzip: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard: unpack it first",
    b"PAR1": "a Parquet file",
    b"\x7fELF": "a program",
    b"\x80\x04\x95": "a Python pickle",
    b"PGDMP": "a dump of a PostgreSQL database: restore it on a server, and open the server's URL",
}
_INSIDE = {8: (b"DUCK", "a DuckDB database"), 257: (b"ustar", "a tar archive")}


def not_sqlite(file: Path) -> str | None:
    """Return what a file seems to be, as the rest of a sentence that begins with its name, or None if it looks like an SQLite database.

    Args:
        file: an existing file that is not empty.

    Raises:
        OSError: the file cannot be read.
    """
    with open_files.reading(real_file(file)) as opened:
        begin = opened.read(_LOOKED_AT)
    if begin.startswith(_SQLITE):
        return None
    for sign, kind in _BEGINNINGS.items():
        if begin.startswith(sign):
            return f"seems to be {kind}"
    for place, (sign, kind) in _INSIDE.items():
        if begin[place:].startswith(sign):
            return f"seems to be {kind}"
    return _text(begin) or "is not an SQLite database, or it is encrypted"


def _text(begin: bytes) -> str | None:
    try:
        text = begin.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(begin) - 3:  # not just a character cut in two at the end
            return None
        text = begin[: error.start].decode("utf-8")
    if "\0" in text:
        return None
    words = text.lstrip("\ufeff").lstrip()
    if words[:1] in ("{", "["):
        return "is JSON text"
    if words.upper().startswith(("CREATE TABLE", "INSERT INTO", "BEGIN TRANSACTION", "PRAGMA ", "-- ")):
        return "is SQL text: run it with `sqlite3 NEW.db < FILE` to get a database"
    return "is a text file"
