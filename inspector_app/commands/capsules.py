"""The `capsule` subcommand."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from inspector_app.commands import stdout
from inspector_app.commands.options import Options
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.reading import opened
from inspector_app.commands.running import open_artifacts
from inspector_app.commands.selection import existing_key
from inspector_app.documents.event_notes import EventNotes
from inspector_app.engines.agent_loader import load_agent
from inspector_app.engines.embedded import described
from inspector_app.exchange.capsule import Capsule, write_capsule
from inspector_app.exchange.capsule_check import replay
from inspector_app.exchange.capsule_session import capsule_of
from inspector_app.presentation.values import visible
from runtime.errors import StorageError
from runtime.storage.connections.new_file import give_name, unfinished_file

CANCELLED = 1

TEST = '''"""Fails when the agent no longer does what {capsule} has recorded. Written by `agent-inspector capsule --pytest`."""

from pathlib import Path

from inspector_app.exchange.capsule_check import check_capsule

HERE = Path(__file__).parent
AGENT = HERE / {agent!r}
RUN_TOOLS = True  # False: the tools' recorded results are given


def test_the_agent_does_what_was_recorded() -> None:
    check_capsule(HERE / {capsule!r}, AGENT, run_tools=RUN_TOOLS)
'''


def capsule(options: Options) -> int:
    """Write a capsule of a session, and a test of it."""
    out = Path(options.out)
    for path in (options.out, options.pytest):
        if path is not None and Path(path).exists():
            raise StorageError(f"{path} already exists. Name a file that does not exist.")
    loaded = load_agent(options.agent) if options.agent else None
    with stdout.kept_for_answers(), opened(options.db) as database:
        key = existing_key(database, options)
        agent = described(loaded.app.root_agent) if loaded is not None else None
        files, notes = open_artifacts(options.artifacts, options.db), EventNotes(options.db).of(database, key)
        made = asyncio.run(capsule_of(database, options.db, key, files, agent, notes))
        divergences: list[str] = []
        if options.agent:
            state = database.first_state(key) or {}
            made.about["asked"], divergences = replay(options.agent, made.events, state, run_tools=False)
    if not _confirmed(made, options):
        stdout.complain("agent-inspector: No capsule was written.\n")
        return CANCELLED
    _write(made, out, options.out)
    if options.pytest:
        _write_test(options)
    _report(made, options, divergences)
    return 0


def _confirmed(made: Capsule, options: Options) -> bool:
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


def _write(made: Capsule, out: Path, written: str) -> None:
    try:
        with unfinished_file(out, 0o600) as unfinished:
            write_capsule(made, unfinished)
            give_name(unfinished, out)
    except OSError as error:
        raise StorageError(f"{written} cannot be written: {error.strerror or error}.") from error


def _write_test(options: Options) -> None:
    test = Path(options.pytest)
    try:
        beside = test.absolute().parent
        names = {"capsule": os.path.relpath(options.out, beside), "agent": os.path.relpath(options.agent, beside)}
        test.write_text(TEST.format(**names), "utf-8")
    except OSError as error:
        raise StorageError(f"{options.pytest} cannot be written: {error.strerror or error}.") from error


def _report(made: Capsule, options: Options, divergences: list[str]) -> None:
    facts: dict[str, Any] = {
        "file": options.out,
        "session": made.about["session_id"],
        "events": len(made.events),
        "requests": len(made.requests),
        "artifacts": len(made.artifacts),
        "replaced": made.about["replaced"],
        "pytest": options.pytest,
        "divergences": divergences,
    }
    if options.json:
        print_json(facts)
        return
    parts = [counted(facts["events"], "event"), counted(facts["requests"], "recorded request"), counted(facts["artifacts"], "file")]
    print_line(f"{options.out}: {', '.join(parts)} of session {visible(facts['session'])}")
    for each in divergences:
        print_line(f"Its agent no longer does what was recorded: {visible(each)}")
    if options.pytest:
        print_line(f"{options.pytest}: run it with pytest")
