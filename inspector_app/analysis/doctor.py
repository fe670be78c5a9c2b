"""Every check of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial

from inspector_app.analysis.answer_checks import answers_cut_off, answers_without_effect, empty_answers
from inspector_app.analysis.call_checks import orphan_responses, repeated_ids, unanswered_calls
from inspector_app.analysis.channel_checks import large_channels
from inspector_app.analysis.context_checks import filled_by_files, filled_by_one, lost_caches, near_the_window
from inspector_app.analysis.finding import LEVELS, Finding
from inspector_app.analysis.order_checks import times_stepping_back, wrong_order
from inspector_app.analysis.repeat_checks import handovers_in_turn, loops_at_their_limit, repeated_answers, repeated_calls
from inspector_app.analysis.resume_checks import missing_agents, unreachable_resumes
from inspector_app.analysis.row_checks import faults_of_tables, unreadable_events
from inspector_app.analysis.session_facts import SessionFacts, limited, read_facts
from inspector_app.analysis.shared_checks import SharedChecks
from inspector_app.analysis.state_checks import cleared_by_rewinds, lost_updates, parallel_overwrites, secrets, unexplained_state
from inspector_app.analysis.time_checks import slow_steps
from inspector_app.presentation.prices import Prices
from runtime.errors import StorageError
from runtime.history.agent_tree import AgentTree
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import is_remote, named_file
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.recordings.recording import Recording, recording_beside
from runtime.support.file_names import free_name

Check = Callable[[SessionFacts], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    unreadable_events,
    unanswered_calls,
    orphan_responses,
    repeated_ids,
    answers_without_effect,
    empty_answers,
    answers_cut_off,
    repeated_calls,
    repeated_answers,
    handovers_in_turn,
    loops_at_their_limit,
    near_the_window,
    filled_by_one,
    filled_by_files,
    lost_caches,
    slow_steps,
    lost_updates,
    unexplained_state,
    secrets,
)
GOOGLE_CHECKS: tuple[Check, ...] = (parallel_overwrites, cleared_by_rewinds, unreachable_resumes, wrong_order, times_stepping_back)


def examine(
    database: StoredDatabase,
    name: str,
    *,
    root: AgentTree | None = None,
    app: str | None = None,
    only: SessionKey | None = None,
    seen: Callable[[int], object] = lambda _: None,
    prices: Prices | None = None,
) -> Iterator[Finding]:
    """Yield what is wrong with a database, session by session. Commands are proposed for databases only, not for a server.

    Args:
        database: the open database; it is only read.
        name: its name as the user wrote it, for commands.
        root: the agent tree as it is now, to find checkpoints of agents that no longer exist; None: do not look for them.
        app: the app of this tree: only its sessions are compared with it; None: all are.
        only: examine this session alone, without the tables; None: everything.
        seen: called now and then with the number of events read so far.
        prices: the prices of models; None: the bundled ones.

    Raises:
        StorageError: the database cannot be read.
    """
    with ExitStack() as stack:
        recording = _recording(name, stack)
        for finding in _findings(database, name, root, app, only, seen, prices or Prices(), recording):
            yield replace(finding, fix=None) if is_remote(name) else finding


def _recording(name: str, stack: ExitStack) -> Recording | None:
    """Return the recording beside a database, which the stack closes; None if there is none that can be read."""
    with suppress(StorageError):  # the window and `costs` report it
        file = None if is_remote(name) else named_file(name)
        if file is not None and (beside := recording_beside(file)).is_file():
            return stack.enter_context(closing(Recording(beside)))
    return None


def _findings(
    database: StoredDatabase,
    name: str,
    root: AgentTree | None,
    app: str | None,
    only: SessionKey | None,
    seen: Callable[[int], object],
    prices: Prices,
    recording: Recording | None,
) -> Iterator[Finding]:
    if only is None:
        yield from faults_of_tables(database.row_faults(), name)
        yield from large_channels(database.channel_sizes())
    shared, done = SharedChecks(database), 0
    for summary in database.listing():
        if only not in (None, summary.key):
            continue
        try:
            facts = read_facts(database, summary.key, name, partial(_add, seen, done), prices, recording)
        except StorageError as error:
            yield _unread(summary.key, name, error)
            continue
        done += len(facts.events)
        shared.add(facts)
        for check in (*CHECKS, *(GOOGLE_CHECKS if facts.is_google else ())):
            yield from limited([*check(facts)])
        if root is not None and app in (None, summary.key.app_name):
            yield from limited([*missing_agents(facts, root)])
    if only is None:
        yield from shared.findings()


def _add(seen: Callable[[int], object], before: int, count: int) -> None:
    seen(before + count)


def _unread(key: SessionKey, name: str, error: StorageError) -> Finding:
    return Finding(
        "unreadable row",
        "error",
        f"The session cannot be read: {error}",
        "What it holds cannot be examined.",
        "Copy what is readable into a new file.",
        key,
        fix=("agent-inspector", "recover", name, free_name()),
    )


def by_severity(findings: list[Finding]) -> list[Finding]:
    """Return findings with the most serious first; equal ones keep their order."""
    return sorted(findings, key=lambda finding: LEVELS.index(finding.level))
