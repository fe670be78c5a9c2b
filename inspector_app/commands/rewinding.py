"""The `rewind` subcommand: it shows what the rewind does before it is done."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from inspector_app.commands.opening import open_artifacts
from inspector_app.commands.options.changing import Rewind
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.reading import check_layout_is_written, opened
from inspector_app.commands.selection import command_line, existing_key, session_words, whole_id
from inspector_app.presentation.values import preview, visible
from runtime.agents.base_agent import BaseAgent
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.errors import StorageError
from runtime.runners import Runner
from runtime.running.rewind_plan import RewindPlan, rewind_plan
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.support.file_names import free_name


def rewind(options: Rewind) -> int:
    """Show what a rewind takes back, and do it unless `--dry-run` is given."""
    artifacts = open_artifacts(options.artifacts, options.db)
    with opened(options.db) as database:
        if not options.dry_run:
            check_layout_is_written(database, options.db)
        key = existing_key(database, options)
        past = database.history(key)
        options.before = whole_id("invocation", options.before, (event.invocation_id for event in past.events), key, options.db)
        plan = rewind_plan(past, key, database.state(key), options.before)
        ours = database.layout.ours
    if not options.json:
        _print_plan(plan, key, options.db, with_files=artifacts is not None)
    if not options.dry_run and not ours and not options.in_place:
        raise StorageError(
            f"{options.db} was written by another program. To write into it after a backup, give --in-place; or fork the session into a"
            f" new database: {command_line('fork', options.db, *session_words(key), '--before', options.before, '--into', free_name())}"
        )
    event_id = None if options.dry_run else asyncio.run(_rewind(options, key, artifacts))
    if options.json:
        print_json({"rewind": {**_plan_json(plan), "done": event_id is not None, "event_id": event_id}})
    elif event_id is not None:
        print_line(f"Done. The rewind is event {visible(event_id)}.")
    return 0


async def _rewind(options: Rewind, key: SessionKey, artifacts: BaseArtifactService | None) -> str:
    """Rewind, and return the id of the rewind's event."""
    async with open_session_service(options.db) as service:
        nobody = BaseAgent(name="nobody")
        async with Runner(app_name=key.app_name, agent=nobody, session_service=service, artifact_service=artifacts) as runner:
            before = options.before
            await runner.rewind_async(user_id=key.user_id, session_id=key.session_id, rewind_before_invocation_id=before)
        session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        assert session is not None  # it was rewound
        return session.events[-1].id


def _plan_json(plan: RewindPlan) -> dict[str, Any]:
    state = [{"key": change.key, "before": change.before, "after": change.after} for change in plan.state]
    plain = {name: getattr(plan, name) for name in ("invocation_id", "first_event_id", "unknown", "stays", "tools")}
    return {**plain, "undone": [asdict(each) for each in plan.undone], "state": state, "files": [asdict(file) for file in plan.files]}


def _print_plan(plan: RewindPlan, key: SessionKey, database: str, *, with_files: bool) -> None:
    print_line("This takes back:")
    for each in plan.undone:
        print_line(visible(f"  invocation {each.invocation_id}, {each.status}, {counted(each.events, 'event')}: {each.message}"))
    for change in plan.state:
        after = "cleared, as its earlier value was not recorded" if change.key in plan.unknown else preview(change.after)
        print_line(visible(f"  {change.key}: {preview(change.before)} → {after}"))
    for file in plan.files:
        then = "an empty file, as it did not exist" if file.then is None else f"version {file.then}"
        kept = "" if with_files else "; not done, as --artifacts does not name the folder with the files"
        print_line(visible(f"  file {file.name}, version {file.now} → {then}{kept}"))
    print_line("It does not take back:")
    print_line(visible(f"  shared with other sessions: {', '.join(plan.stays) or 'none'}"))
    tools = ", ".join(f"{name} (×{count})" if count > 1 else name for name, count in plan.tools.items())
    print_line(visible(f"  effects of tools outside the session: {tools or 'no tool returned'}"))
    instead = command_line("fork", database, *session_words(key), "--before", plan.invocation_id)
    print_line(f"To keep the session as it is, fork it instead: {visible(instead)}")
