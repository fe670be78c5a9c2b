"""Wrong files, and names that are no files, as a user may give them to any command."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

OURS = Path(__file__).parents[3] / "data" / "ours.db"


def _same_bytes(file: Path, size: int) -> None:
    file.write_bytes(OURS.read_bytes()[:size])


def _damaged(file: Path) -> None:
    whole = OURS.read_bytes()
    file.write_bytes(whole[:4096] + bytes((byte * 7 + 3) % 256 for byte in whole[4096:]))


def _without_sessions(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE contacts (name)")
    connection.commit()
    connection.close()


def _bound(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(file))  # a socket's name is short


WRITTEN: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: None,
    "folder": lambda file: file.mkdir(),
    "empty": lambda file: file.touch(),
    "text": lambda file: file.write_text("Dear diary,\n" * 50),
    "json": lambda file: file.write_text('{"a": 1}'),
    "png": lambda file: file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "truncated": lambda file: _same_bytes(file, 6_000),
    "header only": lambda file: _same_bytes(file, 100),
    "damaged": _damaged,
    "without sessions": _without_sessions,
    "encrypted": lambda file: file.write_bytes(os.urandom(8192)),
    "fifo": lambda file: os.mkfifo(file),
    "socket": _bound,
    "link loop": lambda file: file.symlink_to(file.name),
    "dangling link": lambda file: file.symlink_to("nowhere"),
}
NAMED = {
    "folder missing": "no/x.db",
    "below a file": "notes.txt/x.db",
    "device": "/dev/zero",
    "null device": "/dev/null",
    "full device": "/dev/full",
    "not UTF-8": os.fsdecode(b"\xff\xfe.db"),
    "newline": "two\nlines.db",
    "quote": 'it\'s "quoted".db',
    "too long": "n" * 300 + ".db",
    "NUL": "a\0b.db",
    "dot": "./x.db",
    "parent": "../wrong/x.db",
}
URLS = {
    "other database": "mysql://ana:s3cret@localhost/db",
    "unknown scheme": "bogus://ana:s3cret@localhost/db",
    "port out of range": "postgresql://ana:s3cret@localhost:99999/db",
    "port no number": "postgresql://ana:s3cret@localhost:port/db",
    "refused": "postgresql://ana:s3cret@localhost:1/db",
    "http": "http://ana:s3cret@localhost:8000/x",
    "sqlite missing": "sqlite:///x.db",
}
KINDS = [*WRITTEN, *NAMED, *URLS]


def wrong_file(kind: str) -> str:
    """Make a wrong file in the current folder, and return its name as a user writes it."""
    if kind in URLS:
        return URLS[kind]
    if kind == "below a file":
        Path("notes.txt").write_text("x")
    if kind in NAMED:
        return NAMED[kind]
    WRITTEN[kind](Path("x.db"))
    return "x.db"


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return what is in a folder: name → bytes of a regular file, None for anything else."""
    return {
        str(file.relative_to(folder)): file.read_bytes() if file.is_file() and not file.is_symlink() else None for file in folder.rglob("*")
    }


def copy_of_ours(folder: Path) -> str:
    """Put a good database into the folder and return its name."""
    shutil.copy(OURS, folder / "good.db")
    return "good.db"
