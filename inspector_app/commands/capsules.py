"""The `capsule` subcommand."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspector_app.commands import stdout
from inspector_app.commands.opening import open_artifacts
from inspector_app.commands.options.reading import CapsuleOptions
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.problems import UsageError
from inspector_app.commands.reading import opened
from inspector_app.commands.selection import existing_key, whole_id
from inspector_app.documents.event_notes import EventNotes
from inspector_app.engines.agent_loader import load_agent
from inspector_app.exchange.capsule import Capsule
from inspector_app.exchange.capsule_check import replay, trial_sentence, try_check
from inspector_app.exchange.capsule_files import save_capsule, save_test
from inspector_app.exchange.capsule_session import capsule_of
from inspector_app.presentation.values import visible, visible_lines
from runtime.errors import StorageError
from runtime.forks.recorded_answers import Divergence
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase

CANCELLED = 1


def capsule(options: CapsuleOptions) -> int:
    """Write a capsule of a session, and a test of it."""
    for path in (options.out, options.pytest):
        if path is not None and Path(path).exists():
            raise StorageError(f"{path} already exists. Name a file that does not exist.")
    loaded = load_agent(options.agent) if options.agent else None
    with stdout.kept_for_answers(), opened(options.db) as database:
        key = existing_key(database, options)
        agent = loaded.described if loaded is not None else None
        files, notes = open_artifacts(options.artifacts, options.db), EventNotes(options.db).of(database, key)
        first, last = _slice(database, key, options)
        made = asyncio.run(capsule_of(database, options.db, key, files, agent, notes, first=first, last=last))
        divergences: list[Divergence] = []
        if options.agent:
            made.about["asked"], divergences = replay(options.agent, made, run_tools=False)
    if not _confirmed(made, options):
        stdout.complain("agent-inspector: No capsule was written.\n")
        return CANCELLED
    save_capsule(made, options.out)
    failure = ""
    if options.pytest and options.agent:
        save_test(options.pytest, options.out, options.agent)
        failure = try_check(options.out, options.agent)
    _report(made, options, divergences, failure)
    return 0


def _slice(database: StoredDatabase, key: SessionKey, options: CapsuleOptions) -> tuple[int, int | None]:
    """Return the places of the first and the last event that were named; None for the last one."""
    if options.first is None and options.last is None:
        return 0, None
    ids = [event.id for event in database.plain_events(key)]
    wanted = [
        whole_id("event", name, database.ids_beginning(key, name), key, options.db) if name is not None else None
        for name in (options.first, options.last)
    ]
    first = ids.index(wanted[0]) if wanted[0] is not None else 0
    last = ids.index(wanted[1]) if wanted[1] is not None else len(ids) - 1
    if first > last:
        raise UsageError("--first names an event that comes after that of --last.")
    return first, last


def _confirmed(made: Capsule, options: CapsuleOptions) -> bool:
    """Show what was replaced, and ask whether that is all; without a terminal, or with `--yes`, nothing is asked."""
    places = made.about["replaced"]
    for place in places:
        stdout.complain(f"replaced: {visible(place)}\n")
    if options.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    found = (
        f"{counted(len(places), 'place')} {'was' if len(places) == 1 else 'were'} replaced." if places else "Nothing looked like a secret."
    )
    stdout.complain(f"{found} Write the capsule? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _report(made: Capsule, options: CapsuleOptions, divergences: Sequence[Divergence], failure: str) -> None:
    facts: dict[str, Any] = {
        "file": options.out,
        "session": made.about["session_id"],
        "events": len(made.events),
        "requests": len(made.requests),
        "artifacts": len(made.artifacts),
        "replaced": made.about["replaced"],
        "pytest": options.pytest,
        "test_fails": failure or None,
        "divergences": [*map(str, divergences)],
    }
    if options.json:
        print_json(facts)
        return
    parts = [counted(facts["events"], "event"), counted(facts["requests"], "recorded request"), counted(facts["artifacts"], "file")]
    print_line(f"{options.out}: {', '.join(parts)} of session {visible(facts['session'])}")
    for each in [] if failure else divergences:
        print_line(f"Its agent no longer does what was recorded: {visible(str(each))}")
    if options.pytest and options.agent:
        print_line(f"{options.pytest}: run it with pytest. {visible_lines(trial_sentence(failure))}")
