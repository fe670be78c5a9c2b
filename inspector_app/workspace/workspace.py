"""All owners of a window."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from inspector_app.documents.session_ranges import SessionReader
from inspector_app.engines.engine_choice import EngineChoice
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import own_prices
from inspector_app.support.settings import Settings
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.agent_runs import AgentRuns
from inspector_app.workspace.breakpoint_store import BreakpointStore
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.live_tail import LiveTail
from inspector_app.workspace.manual_events import ManualEvents
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.received_traces import ReceivedTraces
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_costs import SessionCosts
from inspector_app.workspace.session_notes import SessionNotes
from inspector_app.workspace.session_sums import SessionSums
from inspector_app.workspace.session_titles import SessionTitles
from inspector_app.workspace.unsaved_sessions import UnsavedSessions
from inspector_app.workspace.working_copy import WorkingCopy
from inspector_app.workspace.write_access import WriteAccess
from inspector_app.workspace.written_output import WrittenOutput


@dataclass(frozen=True)
class Workspace:
    """The owners of one window, handed to the door of every feature.

    A controller that uses few of them takes these one by one. Owners never take the workspace: what each may write stays visible.

    Attributes:
        preferences: what is remembered.
        tasks: the supervised tasks.
        messages: what the user reads.
        cursor: the selection.
        output: what agents have written.
        agents: the loaded agent.
        catalog: what is known about sessions.
        kept, unsaved: sessions that are in no database of the user's, their files and their way into one.
        databases: the open databases.
        current: the displayed session.
        breakpoints: the breakpoints.
        run: the run.
        traces: the calls that exporters of traces send.
        notes: the notes on the displayed session's events.
        commits: commits events that no agent yields.
        write_access, working_copy: permission to write.
        runs: runs the agent without displaying it.
        titles, sums: of all sessions.
        tail: what other processes commit.
        prices, costs: of models, and of the displayed session.
        reader: reads ranges of whole sessions.
    """

    preferences: Settings
    tasks: Tasks
    messages: MessageBus
    cursor: Cursor
    output: WrittenOutput
    agents: CurrentAgent
    catalog: SessionCatalog
    kept: KeptSessions
    unsaved: UnsavedSessions
    databases: OpenDatabases
    current: CurrentSession
    breakpoints: BreakpointStore
    run: CurrentRun
    traces: ReceivedTraces
    notes: SessionNotes
    commits: ManualEvents
    write_access: WriteAccess
    working_copy: WorkingCopy
    runs: AgentRuns
    titles: SessionTitles
    sums: SessionSums
    tail: LiveTail
    prices: Prices
    costs: SessionCosts
    reader: SessionReader


def make_workspace(settings: Settings, messages: MessageBus, parent: QObject, *, trust: bool, engine: EngineChoice | None) -> Workspace:
    """Make the owners of a window.

    Args:
        settings: the stored preferences and layouts.
        messages: the bus that reports messages to the user.
        parent: deletes the owners.
        trust: load agents without asking.
        engine: the engine that was named for this window.
    """
    tasks = Tasks(messages.error)
    cursor = Cursor(parent)
    output = WrittenOutput(parent)
    agents = CurrentAgent(settings, trust_all=trust, engine=engine, on_output=output.take, parent=parent)
    catalog = SessionCatalog(parent)
    kept = KeptSessions(settings, messages)
    databases = OpenDatabases(catalog, tasks, kept, parent)
    current = CurrentSession(cursor, databases, catalog, tasks, parent)
    breakpoints = BreakpointStore(agents, settings, messages, parent)
    run = CurrentRun(cursor, agents, databases, catalog, current, breakpoints, output, tasks, messages, parent)
    prices = Prices(own_prices(settings.prices))
    notes = SessionNotes(current, tasks, parent)
    tail = LiveTail(cursor, databases, catalog, current, run, tasks, messages, parent)
    titles = SessionTitles(databases, catalog, tasks, parent)
    for names in (notes, titles):
        tail.notes_changed.connect(names.reread)
    return Workspace(
        preferences=settings,
        tasks=tasks,
        messages=messages,
        cursor=cursor,
        output=output,
        agents=agents,
        catalog=catalog,
        kept=kept,
        unsaved=UnsavedSessions(cursor, databases, catalog, current, run, kept),
        databases=databases,
        current=current,
        breakpoints=breakpoints,
        run=run,
        traces=ReceivedTraces(settings.folder / "traces.rec.db", databases, catalog, current, tasks, messages, parent),
        notes=notes,
        commits=ManualEvents(agents, current, run, tasks, messages),
        write_access=WriteAccess(databases, current, tasks, messages, parent),
        working_copy=WorkingCopy(cursor, databases, current, tasks, messages, parent),
        runs=AgentRuns(agents, databases, current, run, output, run.sessions, parent),
        titles=titles,
        sums=SessionSums(databases, catalog, prices, tasks, parent),
        tail=tail,
        prices=prices,
        costs=SessionCosts(current, run, prices, tasks, parent),
        reader=SessionReader(),
    )
