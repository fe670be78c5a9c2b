"""A program that reads damaged databases one after another, so that the test notices if the process crashes.

Arguments: a folder of good databases, the number of the first mutant, and the number of mutants. It prints a line before and after each.
"""

from __future__ import annotations

import faulthandler
import random
import sys
import tempfile
import time
from pathlib import Path

from runtime.errors.known_error import KnownError
from runtime.storage.reading.raw_tables import RawTables
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.file_tail import FileTail

PAGE = 4_096


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Return a damaged database: with changed bits, pages, lengths or numbers, or truncated."""
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5, 30])):
        if not found:
            break
        place = chance.randrange(len(found))
        if chance.random() < 0.4:  # in the structure: the header and the beginnings of pages
            place = min(chance.randrange(len(found) // PAGE + 1) * PAGE + chance.randrange(108), len(found) - 1)
        what = chance.randrange(6)
        if what == 0:
            found[place] ^= 1 << chance.randrange(8)
        elif what == 1:
            found[place] = chance.choice([0, 0xFF, 0x7F, 0x80, chance.randrange(256)])
        elif what == 2:
            end = min(place + chance.randrange(1, 64), len(found))
            found[place:end] = chance.randbytes(end - place)
        elif what == 3:
            page, other = (chance.randrange(len(found) // PAGE + 1) * PAGE for _ in range(2))
            found[page : page + PAGE] = found[other : other + PAGE]
        elif what == 4 and len(found) > 2_000:
            del found[chance.randrange(1_000, len(found)) :]
        else:
            end = min(place + chance.randrange(1, PAGE), len(found))
            found[place:end] = bytes(end - place)
    return bytes(found)


def read_all(file: Path) -> str:
    """Read everything in a database, as the window does, and return the outcome."""
    try:
        with StoredDatabase.open(str(file)) as database:
            tail = FileTail(file)
            tail.poll()
            tail.close()
            for scope in database.shared_scopes()[:3]:
                database.shared_state(scope)
            summaries = database.sessions()[:3]
            for summary in summaries:
                try:
                    database.state(summary.key)
                    history = database.history(summary.key)
                    history.state_at(len(history.events) - 1)
                    pages = database.pages(summary.key, summary.event_count)
                    pages.rows(0, min(len(pages), 100))
                except KnownError:
                    continue
        return "read"
    except KnownError:
        return "refused"


def look_at_tables(file: Path) -> None:
    """Read the first and last rows of every table."""
    raw = RawTables(file)
    try:
        for table in raw.tables():
            try:
                page = raw.page(table, "first")
                for place in page.places[:2]:
                    raw.value(table, place, table.columns[-1][0])
                raw.page(table, "last")
            except KnownError:
                continue
    except KnownError:
        pass
    finally:
        raw.close()


def main(folder: str, first: int, count: int) -> None:
    """Read mutants."""
    faulthandler.enable()
    good = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "mutant.db"
        for number in range(first, first + count):
            chance = random.Random(number)
            file.write_bytes(mutated(chance.choice(good), chance))
            sys.stdout.write(f"begin {number}\n")
            sys.stdout.flush()
            begin = time.process_time()
            how = read_all(file)
            look_at_tables(file)
            sys.stdout.write(f"end {number} {how} {time.process_time() - begin:.3f}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
