"""The real google-adk reads what `export` writes, and finds in an imported database what the original has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, manifest
from tests.interop.google_adk import run_adk
from tests.sweep import count

READ_ALL = """
    import pathlib
    from google.adk.cli.utils.evals import convert_session_to_eval_invocations
    from google.adk.evaluation.eval_set import EvalSet
    from google.adk.sessions.session import Session

    def plain(turns):
        return [json.loads(turn.model_dump_json(exclude_none=True)) for turn in turns]

    def resumed_parts(session):
        # An answer that resumes an invocation is a turn of its own in our cases; google-adk would put it in place of the message.
        begun = {}
        for event in session.events:
            first = event.invocation_id
            part = begun.get(first)
            if part is None or event.author == "user" and event.get_function_responses():
                begun[first] = part = 0 if part is None else part + 1
            event.invocation_id = f"{first}#{part}"
        return session

    def conversation(session):
        turns = plain(turn for turn in convert_session_to_eval_invocations(resumed_parts(session)) if turn.user_content.parts)
        return [{**turn, "invocation_id": turn["invocation_id"].rpartition("#")[0]} for turn in turns]

    found = {}
    for file in sorted(pathlib.Path(args[0]).glob("*.db")):
        written = json.loads(file.with_suffix(".json").read_text())
        sessions = [Session.model_validate(one) for one in (written if isinstance(written, list) else [written])]
        cases = EvalSet.model_validate_json(file.with_suffix(".evalset.json").read_text()).eval_cases
        service = DatabaseSessionService("sqlite+aiosqlite:///" + str(file))
        for session, case in zip(sessions, cases, strict=True):
            stored = await service.get_session(app_name=session.app_name, user_id=session.user_id, session_id=session.id)
            expected = conversation(session.model_copy(deep=True))
            found[f"{file.name} {session.app_name} {session.user_id} {session.id}"] = {
                "of the file": [json.loads(event.model_dump_json(exclude_none=True)) for event in session.events],
                "of the database": [json.loads(event.model_dump_json(exclude_none=True)) for event in stored.events],
                "state of the file": session.state,
                "state": stored.state,
                "case is as adk web makes it": plain(case.conversation) == expected or [plain(case.conversation), expected],
            }
        await service.db_engine.dispose()
    return found
"""


@pytest.mark.sweep
def test_google_adk_reads_exports_and_what_was_imported(tmp_path: Path) -> None:
    files = [fixtures_dir() / "open" / entry["file"] for entry in manifest()][:: count(quick=6, full=1)]
    expected: dict[str, list[str]] = {}
    for number, original in enumerate(files):
        for kind in ("json", "evalset.json"):
            assert main(["export", str(original), str(tmp_path / f"{number}.{kind}"), "--secrets"]) == 0
        assert main(["import", str(tmp_path / f"{number}.json"), str(tmp_path / f"{number}.db")]) == 0
        with StoredDatabase.open(str(original)) as database:
            for summary in database.sessions():
                ids = [event.id for event in database.events(summary.key)]
                expected[f"{number}.db {summary.key.app_name} {summary.key.user_id} {summary.key.session_id}"] = ids
    found: dict[str, dict[str, Any]] = run_adk(READ_ALL, str(tmp_path))
    assert {name: [event["id"] for event in one["of the database"]] for name, one in found.items()} == expected
    for name, one in found.items():
        in_order = [json.dumps(event, sort_keys=True) for event in one["of the file"]]
        assert [json.dumps(event, sort_keys=True) for event in one["of the database"]] == in_order, name
        assert one["state"] == one["state of the file"], name
        assert one["case is as adk web makes it"] is True, (name, one["case is as adk web makes it"])
