"""The `recover` subcommand."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from inspector_app.commands.options.changing import Recover
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.progress import Progress
from inspector_app.presentation.values import visible
from runtime.storage.connections.database_url import named_file
from runtime.storage.writing.recover import Recovery
from runtime.storage.writing.recover import recover as recover_file

_PAGE = 4096  # bytes of a page, in nearly every file
_MOST_PAGES = 10  # numbers in the report


def recover(options: Recover) -> int:
    """Copy what is readable of a damaged database into a new file."""
    file = named_file(options.db)
    pages = file.stat().st_size // _PAGE if file is not None and _is_file(file) else 0
    with Progress("Reading pages", lambda: pages) as progress:
        done = recover_file(options.db, options.new, progress.show)
    if options.json:
        print_json({"db": options.db, "new": options.new, **asdict(done)})
        return 0
    rows = ", ".join(f"{visible(name)} {count:,}" for name, count in done.rows.items() if count)
    print_line(f"{options.new}: rows from {options.db}: {rows or 'none in a known table'}")
    for sentence in losses(done):
        print_line(sentence)
    return 0


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except (OSError, ValueError):
        return False


def losses(done: Recovery) -> list[str]:
    """Return what was lost, a sentence each; that nothing was, if it is so."""
    said = []
    if done.damaged_pages:
        shown = ", ".join(map(str, done.damaged_pages[:_MOST_PAGES])) + (" …" if len(done.damaged_pages) > _MOST_PAGES else "")
        said.append(f"Lost: {counted(len(done.damaged_pages), 'page')} of {done.pages:,} cannot be read ({shown}).")
    if done.unreadable_rows:
        said.append(f"Lost: the bytes of {counted(done.unreadable_rows, 'row')} make no sense.")
    if done.incomplete:
        said.append(f"Damaged: {counted(done.incomplete, 'row')} end too early, as the rest is on a page that cannot be read.")
    if done.sessions:
        state = "its state is" if done.sessions == 1 else "their state is"
        said.append(f"Lost: the rows of {counted(done.sessions, 'session')} with events. New ones were made, and {state} empty.")
    if done.tables:
        said.append(f"The tables {', '.join(done.tables)} were lost and created again as google-adk creates them.")
    if done.placed:
        said.append(f"{counted(done.placed, 'row')} lay on pages that no table leads to, and were stored in the table that they fit.")
    if done.lost:
        said.append(f"{counted(done.lost, 'row')} fit no table, or another row has their key: they are in the table lost_and_found.")
    if done.refused:
        said.append(f"{counted(done.refused, 'statement')} of the file that would create tables or indexes could not be run.")
    if done.is_complete:
        said.append("Nothing seems to be lost.")
    return said
