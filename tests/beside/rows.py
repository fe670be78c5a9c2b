"""The table of `docs/specification.md`: what comes of each pair, and the message."""

from __future__ import annotations

from typing import NamedTuple

from tests.beside.pairs import HAPPENINGS, PAIRS, REPLACES

BACKUP, READ_ONLY, FULL, OTHER = HAPPENINGS
NO_SPACE = "The disk that holds FILE is full. Free some space and try again."
NO_FOLDER = "FILE cannot be opened. Check that its folder exists, and that this program may read and write both."
TOLD_OF_FULL = {
    "server": f"StorageError: {NO_SPACE}",
    "adk web": "OperationalError: (sqlite3.OperationalError) database or disk is full",
}


class Row(NamedTuple):
    """One pair.

    Attributes:
        happens: what comes of it.
        told: the message to the one that is refused in between; empty if nothing is refused.
    """

    happens: str
    told: str = ""


def row_of(pair: tuple[str, str]) -> Row:
    """Return what the specification says of a pair."""
    one, other = pair
    if other not in HAPPENINGS:
        return _of_users(one, other)
    if one in HAPPENINGS:
        return _OF_HAPPENINGS[one, other]
    if other == FULL:
        if one == "tail":
            return Row("It continues to read.")
        return Row("What is written meanwhile is refused whole; it continues when there is space.", TOLD_OF_FULL.get(one, NO_SPACE))
    if other == READ_ONLY:
        if one == "command":
            return Row("It reads, and writes again when the folder is writable.", NO_FOLDER)
        return Row("It continues: the files that it writes are open." if one != "tail" else "It continues to read.")
    if one in ("tail", "command"):
        return Row("It reads the file that was put there." if one == "tail" else "It continues in the file that was put there.")
    if one == "notes":
        return Row("The next note is stored in the file that was put there.")
    if one == "adk web" and other == BACKUP:
        return Row("Nothing is lost: the log beside the file has what was committed since. It continues in the file that was put there.")
    if one == "adk web":
        return Row(
            "The file that was put there stays whole if a command writes to it before google-adk ends; google-adk's writes are lost."
        )
    return Row("The replaced file keeps what was committed to it. It continues in the file that was put there.")


def _of_users(one: str, other: str) -> Row:
    if other == "tail":
        return Row("Each commit is read when it is made.")
    if other == "notes":
        return Row("The note is stored." if one == "tail" else "The events and the note are stored.")
    return Row("Both commit in turn, and each reads what the other committed.")


_OF_HAPPENINGS = {
    (BACKUP, READ_ONLY): Row("The backup is read; a command writes when the folder is writable.", NO_FOLDER),
    (BACKUP, FULL): Row("The backup is read; a command writes when there is space.", NO_SPACE),
    (BACKUP, OTHER): Row("A command reads and writes the file that was put there last."),
    (READ_ONLY, FULL): Row("The file is read; a command writes when the folder is writable and there is space.", NO_FOLDER),
    (READ_ONLY, OTHER): Row("The folder keeps its file, which is read; a command writes when the folder is writable.", NO_FOLDER),
    (FULL, OTHER): Row("The other file is read; a command writes when there is space.", NO_SPACE),
}


def replaces(pair: tuple[str, str]) -> bool:
    """Return whether a pair puts another file in the file's place."""
    return bool(REPLACES & {*pair}) and pair != (READ_ONLY, OTHER)


def table() -> str:
    """Return the table as Markdown."""
    lines = ["| together | what happens | message |", "|---|---|---|"]
    for pair in PAIRS:
        row = row_of(pair)
        lines.append(f"| {pair[0]}, {pair[1]} | {row.happens} | {row.told or 'none'} |")
    return "\n".join(lines)
