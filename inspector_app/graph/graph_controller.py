"""The agent graph: the loaded agent's tree, or the agents of the displayed session, with what each did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.recorded_spans import RecordedCalls, activity_of
from inspector_app.documents.session_ranges import MOST_OF_SESSION, EventRange, invocation_around
from inspector_app.engines.protocol import Agent
from inspector_app.graph.graph_painter import GraphView
from inspector_app.graph.graph_pane import GraphPane
from inspector_app.presentation.agent_graph import MOST_NODES, GraphNode, graph_of, graph_of_events
from inspector_app.presentation.agent_sums import AgentSum, actor, agent_sums
from inspector_app.presentation.author_colours import AuthorColours
from inspector_app.presentation.costs import model_calls
from inspector_app.presentation.graph_layout import lay_out
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.spans import HeldTime
from inspector_app.workspace.workspace import Workspace
from runtime.errors.storage_error import StorageError
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

_REST_MS = 250  # from a change to counting, so that a streaming run is counted a few times a second

Sums = dict[str, AgentSum]


class GraphController(QObject):
    """A controller that fills the graph.

    Args:
        work: the owners.
        colours: the authors' colours, shared with the stream.
        pane: the pane to fill.
    """

    def __init__(self, work: Workspace, colours: AuthorColours, pane: GraphPane) -> None:
        super().__init__(pane)
        self._work = work
        self._colours = colours
        self._pane = pane
        self._last: str | None = None  # agent of the newest event of the run
        self._wanted = 0  # number of the latest counting
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._draw)
        for changed in (
            work.cursor.event_changed,
            work.current.events_added,
            work.current.events_read,
            work.current.session_loaded,
            work.current.session_loading,
            work.current.calls_recorded,
            work.run.run_ended,
            pane.range_chosen,
        ):
            changed.connect(self._on_changed)
        pane.displayed.came.connect(self._draw)
        work.agents.agent_loaded.connect(self._draw)  # at once: until then the graph asks to load the agent
        work.current.events_added.connect(self._on_events)
        work.run.partial_arrived.connect(self._on_partial)
        for changed in (work.run.changed, work.run.hold_changed):
            changed.connect(self._light)
        pane.picture.saved.connect(work.messages.info)
        pane.picture.failed.connect(work.messages.warning)

    def _on_changed(self, *_: object) -> None:
        if not self._rest.isActive():
            self._rest.start()

    def _on_events(self, events: list[Event]) -> None:
        self._light_author(events[-1])

    def _on_partial(self, _address: object, event: Event) -> None:
        self._light_author(event)

    def _light_author(self, event: Event) -> None:
        shown = self._pane.graph.shown
        name = actor(event, {node.name for node in shown.root.nodes()}) if shown is not None else event.author
        if name is not None:
            self._last = name
            self._light()

    def _light(self, *_: object) -> None:
        phase, hold = self._work.run.phase, self._work.run.hold
        if phase == "idle":
            self._last = None
            self._pane.graph.set_active(None, "")
        elif hold is not None:
            self._pane.graph.set_active(hold.agent or self._last, "held")
        else:
            self._pane.graph.set_active(self._last, "running" if self._last is not None else "")

    def _draw(self, *_: object) -> None:
        if not self._pane.displayed.now:
            self._pane.clear()
            return
        session, index = self._work.current.session, self._work.cursor.event_index
        self._wanted += 1
        self._work.tasks.spawn(self._show(session, index, self._wanted), "Drawing the agent graph")

    async def _show(self, session: OpenSession | None, index: int | None, number: int) -> None:
        events, part = await self._events(session, index)
        agent = self._work.agents.loaded
        is_its_own = agent is not None and (session is None or session.address.key.app_name == agent.name)
        root = graph_of(agent.described) if agent is not None and is_its_own else graph_of_events(events.events)
        if root is None:
            self._pane.set_graph(None, {}, "")
            return
        recorded, problem = RecordedCalls(), ""
        if session is not None and events.events:
            ids = tuple({event.invocation_id: None for event in events.events}) if self._pane.range == "invocation" else ()
            try:
                recorded = await session.source.recorded_calls(session.address.key, ids)
            except StorageError as error:
                problem = str(error)
        sums = await run_in_thread(_sums, session, events, recorded, tuple(self._work.run.holds()), self._work.prices, root)
        if number != self._wanted:
            return
        columns, rows = lay_out(root)
        nodes = root.nodes()
        roles = {node.name: self._colours.role(node.name) for node in nodes if self._colours.knows(node.name)}
        own = "" if is_its_own else "The agents of these events. Load the agent to see all of them, with tools and code"
        cut = f"The first {MOST_NODES} agents" if len(nodes) >= MOST_NODES else ""
        note = " · ".join(filter(None, (problem, part, own, cut)))
        self._pane.set_graph(GraphView(root, columns, rows, roles, sums), _places(agent) if is_its_own and agent is not None else {}, note)
        self._light()
        if index is not None and events.events and 0 <= index - events.first < len(events.events):
            name = actor(events.events[index - events.first], {node.name for node in nodes})
            self._pane.graph.select_agent(name or "")

    async def _events(self, session: OpenSession | None, index: int | None) -> tuple[EventRange, str]:
        if session is None or not session.events:
            return EventRange(0, []), ""
        if self._pane.range == "session":
            if session.pages is not None:
                self._pane.show_note(f"Reading {min(len(session.events), MOST_OF_SESSION):,} events…")
            newest = await self._work.reader.newest(session)
            return newest, f"The newest {len(newest.events):,} of {len(session.events):,} events" if newest.first else ""
        found = invocation_around(session, index) if index is not None else None
        return found or EventRange(0, []), "" if found else "Select an event to count its invocation"


def _sums(
    session: OpenSession | None, events: EventRange, recorded: RecordedCalls, holds: Sequence[HeldTime], prices: Prices, root: GraphNode
) -> Sums:
    if session is None:
        return {}
    found = activity_of(events.events, events.first, recorded, holds)
    calls = model_calls(session.address.key, events.events, prices, recorded.facts)
    return agent_sums(events.events, events.first, calls, found.calls, {node.name for node in root.nodes()})


def _places(agent: Agent) -> dict[str, tuple[str, int]]:
    """Return where the code of each agent is, as far as it is known."""
    places = [place for place in agent.places if place.kind == "agent" and Path(place.file).is_absolute()]
    return {place.agent: (place.file, place.line) for place in reversed(places)}
