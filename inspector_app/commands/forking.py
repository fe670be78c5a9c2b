"""The `fork` and `forks` subcommands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.commands import stdout
from inspector_app.commands.child_runs import message_of
from inspector_app.commands.driven import driven
from inspector_app.commands.driving import drive, then
from inspector_app.commands.opening import open_artifacts, planned_engine
from inspector_app.commands.options.branching import ForkOptions, Forks
from inspector_app.commands.output import complain_of_nothing, counted, local_time, print_json, print_line
from inspector_app.commands.reading import check_layout_is_written, opened
from inspector_app.commands.selection import existing_key, whole_id
from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.session_files import files_of
from inspector_app.engines.agent_loader import LoadedAgent, load_agent
from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.presentation.result_override import changed_in, readable_content
from inspector_app.presentation.values import preview, visible
from runtime.errors import NotFoundError
from runtime.events import Event
from runtime.events.kinds import text_of
from runtime.forks.fork import Cut, Files, Fork, fork_session
from runtime.forks.recorded_answers import RecordedAnswers
from runtime.forks.recording import Recording, RecordingError, overridable_part, recording_until
from runtime.forks.tree import ForkNode, fork_trees
from runtime.sessions.lineage import Changed, Lineage
from runtime.sessions.session_key import SessionKey


def fork(options: ForkOptions) -> int:
    """Fork a session, and run an agent in the fork if one is given."""
    with stdout.kept_for_answers():
        artifacts = open_artifacts(options.artifacts, options.db)
        plan = planned_engine(options.agent, options.engine, options.python, options.debugpy) if options.agent else None
        loaded = load_agent(options.agent) if options.agent and plan is not None and plan.kind == "embedded" else None
        with opened(options.db) as database:
            if not options.into:
                check_layout_is_written(database, options.db)
            key = existing_key(database, options)
            events = database.events(key)
            notes = EventNotes(options.db).of(database, key)
        _write_out_ids(options, key, events)
        recording = _recording(events, options) if options.rerun else None
        cut = replace(_cut(events, options, recording), credentials=options.credentials)
        beside = options.into and not options.artifacts  # a named folder is for the fork, too
        files = Files(artifacts, files_of(options.into) if beside else None) if artifacts else None
        made = asyncio.run(fork_session(options.db, key, cut, into=options.into, files=files, notes=notes))
        _print_fork(made, recording.notes if recording else [], options.json)
        if plan is None:
            return 0
        return asyncio.run(_run(plan, loaded, made, recording, files, options))


def _write_out_ids(options: ForkOptions, key: SessionKey, events: Sequence[Event]) -> None:
    """Replace the beginnings of ids in the options by the whole ids."""
    if options.at is not None:
        options.at = whole_id("event", options.at, (event.id for event in events), key, options.db)
    if options.before is not None:
        options.before = whole_id("invocation", options.before, (event.invocation_id for event in events), key, options.db)


async def _run(
    plan: EnginePlan, loaded: LoadedAgent | None, made: Fork, recording: Recording | None, files: Files | None, options: ForkOptions
) -> int:
    kept = (files.target or files.source) if files else None
    async with driven(plan, loaded, options.into or options.db, made.key.app_name, files=kept) as agent:
        earlier = {event.invocation_id for event in await agent.events(made.key)}
        if recording is None:
            events = agent.run(made.key, message_of(options.message or ""))
        elif reason := agent.why_not("rerun"):
            raise RecordingError(reason)
        else:
            repeat = agent.rerun(made.key, recording)
            events = then(repeat.events(), lambda: _report(repeat.answers, options.json))
        return await drive(events, agent, made.key, options, earlier)


def _report(answers: RecordedAnswers, as_json: bool) -> None:
    """Print how much came from the recording."""
    if as_json:
        counts = {"model_calls": answers.model_calls, "tool_calls": answers.tool_calls}
        print_json({"rerun": {"answered_from_the_recording": counts, "divergences": [*map(str, answers.divergences)]}})
    else:
        print_line(f"answered from the recording: {counted(answers.model_calls, 'model call')}, {counted(answers.tool_calls, 'tool call')}")
        for sentence in answers.divergences:
            print_line(visible(f"Diverged: {sentence}"))


def _recording(events: Sequence[Event], options: ForkOptions) -> Recording:
    if not events:
        raise RecordingError("The session has no events, so there is nothing to run again.")
    recording = recording_until(events, options.at or events[-1].id)
    if options.answer is None and options.result is None:
        return recording
    wanted = "answer" if options.answer is not None else "result"
    if overridable_part(recording.last) != wanted:
        what = "a model's answer" if wanted == "answer" else "a tool's result"
        raise RecordingError(f"Event {recording.last.id} is not {what}, so --{wanted} cannot change it.")
    if options.answer is not None:
        return recording.with_override(types.Content(role="model", parts=[types.Part(text=options.answer)]))
    return recording.with_override(_with_result(recording.last, options))


def _with_result(event: Event, options: ForkOptions) -> types.Content:
    """Return a tool result's content with one result replaced as the options specify."""
    ids = [response.id for response in event.get_function_responses()]
    if options.call is None and len(ids) > 1:
        raise RecordingError(f"Event {event.id} has the results of several calls. Choose one with --call ({', '.join(filter(None, ids))}).")
    if options.call is not None and options.call not in ids:
        raise NotFoundError(f"Event {event.id} has no result of a call {options.call!r}.")
    assert event.content is not None  # it has results
    content = event.content.model_copy(deep=True)
    for part in content.parts or []:
        if part.function_response and options.call in (None, part.function_response.id):
            part.function_response.response = options.result
    return content


def _cut(events: Sequence[Event], options: ForkOptions, recording: Recording | None) -> Cut:
    name = options.new_session
    if recording is not None:
        return Cut(before=recording.first_event_id, session_id=name, files_at=recording.last.id, changed=changed_in(events, recording))
    if options.before is None:
        changed = Changed("message", after=options.message) if options.message is not None else None
        return Cut(at=options.at, session_id=name, changed=changed)
    first = next(event for event in events if event.invocation_id == options.before)
    changed = Changed("message", first.id, text_of(first), options.message) if options.message is not None else None
    return Cut(before=first.id, session_id=name, changed=changed)


def _print_fork(made: Fork, more_notes: Sequence[str], as_json: bool) -> None:
    notes = [*made.notes, *more_notes]
    if as_json:
        print_json({"fork": {**made.key._asdict(), "database": made.database, **_lineage_json(made.lineage), "notes": notes}})
        return
    lineage = made.lineage
    is_rerun = lineage.changed is not None and not lineage.event_count
    until = f"with its first {counted(lineage.event_count, 'event')}" if lineage.event_count else "from its beginning"
    if is_rerun:
        until = "to be run again from its beginning"
    print_line(f"session {visible(made.key.session_id)} in {made.database}: a fork of {visible(lineage.parent.session_id)} {until}")
    for note in notes:
        print_line(visible(note))


def _lineage_json(lineage: Lineage) -> dict[str, Any]:
    return {
        "parent": {**lineage.parent._asdict(), "database": lineage.database},
        "event_id": lineage.event_id,
        "event_count": lineage.event_count,
        "forked_at": lineage.at,
        "changed": asdict(lineage.changed) if lineage.changed else None,
    }


def forks(options: Forks) -> int:
    """Show the fork trees of a database."""
    with opened(options.db) as database:
        trees = fork_trees([summary.key for summary in database.sessions()], database.lineages())
    if options.json:
        print_json([_node_json(tree) for tree in trees])
        return 0
    if not any(tree.children for tree in trees):
        complain_of_nothing("The database has no forks.")
    for tree in trees:
        _print_node(tree, 0)
    return 0


def _node_json(node: ForkNode) -> dict[str, Any]:
    lineage = _lineage_json(node.lineage) if node.lineage else {}
    children = [_node_json(child) for child in node.children]
    return {**node.key._asdict(), "database": node.database, "exists": node.exists, **lineage, "children": children}


def _place(lineage: Lineage) -> str:
    return f"after {counted(lineage.event_count, 'event')}" if lineage.event_count else "from the beginning"


def _changed_text(changed: Changed) -> str:
    if changed.what == "rerun":
        return "run again"
    before, after = readable_content(changed.before), readable_content(changed.after)
    return f"{changed.what} changed: {'' if before is None else f'{preview(before, 60)} → '}{preview(after, 60)}"


def _print_node(node: ForkNode, depth: int) -> None:
    name = "/".join(node.key) if depth == 0 else node.key.session_id
    words = [name if node.database is None else f"{name} in {Path(node.database)}", "" if node.exists else "(deleted)"]
    if node.lineage:
        changed = node.lineage.changed
        words += [
            f"{_place(node.lineage)}, {local_time(node.lineage.at)}",
            _changed_text(changed) if changed else "",
        ]
    print_line(visible("  " * depth + "  ".join(filter(None, words))))
    for child in node.children:
        _print_node(child, depth + 1)
