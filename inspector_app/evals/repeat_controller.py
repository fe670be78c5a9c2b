"""Runs a session's messages several times on the loaded agent, and fills the page with what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from inspector_app.analysis.repeats import PathGroup, RunFacts, by_path, run_once
from inspector_app.documents.session_address import SessionAddress
from inspector_app.evals.repeat_dialog import MOST, RepeatDialog
from inspector_app.evals.repeat_page import RepeatPage
from inspector_app.presentation.costs import CostSum, cost_text, dollars, model_calls
from inspector_app.presentation.values import counted, preview
from inspector_app.workspace.agent_runs import QuietRuns
from inspector_app.workspace.workspace import Workspace
from runtime.errors import KnownError
from runtime.events.kinds import text_of
from runtime.forks.session_replay import recordings_of
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event

BUSY = "A session is being run again several times: cancel that first, or wait for its end."


@dataclass(frozen=True, slots=True)
class _Conversation:
    """What is run again: the messages of a session, its first state and its user."""

    address: SessionAddress
    messages: tuple[types.Content, ...]
    state: Mapping[str, Any]
    cost: CostSum

    @property
    def title(self) -> str:
        text = " ".join(part.text for part in self.messages[0].parts or () if part.text)
        others = len(self.messages) - 1
        return f"“{preview(text, 80).strip(chr(34))}”" + (f" and {counted(others, 'more message')}" if others else "")


class RepeatController(QObject):
    """A controller that asks how often, runs, and shows the runs side by side.

    Signals:
        opened: the page is to be displayed.
        left: the user left the page.
        compare_requested(SessionAddress, SessionAddress): two runs are to be compared.

    Args:
        work: the owners.
        page: the page to fill.
    """

    opened = Signal()
    left = Signal()
    compare_requested = Signal(object, object)

    def __init__(self, work: Workspace, page: RepeatPage) -> None:
        super().__init__(page)
        self._work = work
        self._page = page
        self._last: _Conversation | None = None
        self._agent: QuietRuns | None = None
        self._found: list[RunFacts] = []
        self._addresses: dict[SessionKey, SessionAddress] = {}
        page.head.cancelled.connect(self._on_cancelled)
        page.head.left.connect(self.left)
        page.again_requested.connect(self._on_again)
        page.open_requested.connect(self._on_open)
        page.compare_requested.connect(self._on_compare)

    def ask(self, target: str, key: SessionKey) -> None:
        """Ask how often a session is run again.

        Args:
            target: its database.
            key: the session.
        """
        reason = self._work.runs.why_not() or self._other_agent(key)
        if reason:
            self._work.messages.info(reason)
        else:
            self._work.tasks.spawn(self._ask(SessionAddress(target, key)), "Running the session again")

    def run(self, conversation: _Conversation, times: int) -> None:
        """Run a conversation in new sessions, and show the page."""
        self._work.tasks.spawn(self._run(conversation, times), "Running the session again")

    def _other_agent(self, key: SessionKey) -> str:
        loaded = self._work.agents.loaded
        assert loaded is not None
        if loaded.name == key.app_name:
            return ""
        return f"The loaded agent is {loaded.name}; this session belongs to {key.app_name}. Open {key.app_name}'s agent first."

    def ask_for_selected(self) -> None:
        """Ask how often the selected session is run again."""
        if self._work.cursor.session is None:
            self._work.messages.info("Select the session to run again first.")
        else:
            self.ask(self._work.cursor.session.database, self._work.cursor.session.key)

    async def _ask(self, address: SessionAddress) -> None:
        source = self._work.databases.source(address.database)
        if source is None:
            return
        history = await source.history(address.key)
        events, recorded = list(history.events), await source.recorded_facts(address.key)
        messages = await run_in_thread(_messages_of, events)
        cost = await run_in_thread(CostSum.of, model_calls(address.key, events, self._work.prices, recorded))
        self._last = _Conversation(address, messages, dict(history.baseline or {}), cost)
        self._show_dialog(self._last)

    def _show_dialog(self, conversation: _Conversation) -> None:
        loaded = self._work.agents.loaded
        if loaded is None:
            return
        facts = [
            f"Each run sends it to {loaded.name} in a new session, which is stored {self._work.runs.place()}.",
            f"Engine: {loaded.engine_title}. The agent's models are asked, and its tools run, each time.",
        ]
        costs = [_cost_sentence(conversation.cost, number) for number in range(1, MOST + 1)]
        dialog = RepeatDialog(f"Run {conversation.title} again", facts, costs, self._page.window())
        dialog.accepted_times.connect(lambda times: self.run(conversation, times))
        dialog.open()

    async def _run(self, conversation: _Conversation, times: int) -> None:
        async with self._work.runs.begin(BUSY) as agent:
            self._agent, self._found, self._addresses = agent, [], {}
            loaded = self._work.agents.loaded
            engine = loaded.engine_title if loaded is not None else ""
            self._page.head.set_title(f"{conversation.title} on {agent.app_name}", f"{engine} · {self._work.runs.place()}")
            self._page.say("running…", "The first run appears here when it ends.")
            self._page.show_runs([])
            self.opened.emit()
            try:
                for number in range(1, times + 1):
                    if agent.is_stopped:
                        break
                    self._page.head.show_progress(f"Run {number} of {times}", number - 1, times)
                    await self._run_one(agent, conversation)
            finally:
                self._agent = None
                self._show_end(times, agent.is_stopped)

    async def _run_one(self, agent: QuietRuns, conversation: _Conversation) -> None:
        key = await agent.new_session(conversation.address.key.user_id, conversation.state)
        facts = await run_once(agent, key, conversation.messages, self._work.prices)
        if agent.is_stopped:
            return  # not a whole run, so not comparable
        self._addresses[key] = agent.address(key)
        self._found.append(facts)
        self._page.show_runs(_in_order(self._found))

    def _show_end(self, times: int, stopped: bool) -> None:
        done, groups = len(self._found), by_path(self._found)
        paths = f"{counted(done, 'run')} took {counted(len(groups), 'path')}."
        ended = f"Cancelled after {done} of {counted(times, 'run')}." if stopped else paths
        self._page.say("No run ended", "The runs were cancelled." if stopped else "See the messages.")
        self._page.head.show_progress(ended, 1, 1)
        self._page.show_runs(groups)

    def _on_cancelled(self) -> None:
        if self._agent is not None:
            self._page.head.show_progress("Stopping the run…", 0, 0)
            self._agent.stop()

    def _on_again(self) -> None:
        if reason := self._work.runs.why_not():
            self._work.messages.info(reason)
        elif self._last is not None:
            self._show_dialog(self._last)

    def _on_open(self, key: SessionKey) -> None:
        address = self._addresses.get(key)
        if address is not None:
            self._work.cursor.select_session(address)
            self.left.emit()

    def _on_compare(self, one: SessionKey, other: SessionKey) -> None:
        if one in self._addresses and other in self._addresses:
            self.compare_requested.emit(self._addresses[one], self._addresses[other])


def _messages_of(events: Sequence[Event]) -> tuple[types.Content, ...]:
    """Return the messages that began a session's invocations.

    Raises:
        RecordingError: there is none.
    """
    found = [one.messages[0] for one in recordings_of(events)]
    texts = tuple(event.content for event in found if event.content is not None and text_of(event))
    if not texts:
        raise KnownError("The session has no message, so there is nothing to run again.")
    return texts


def _cost_sentence(cost: CostSum, times: int) -> str:
    """Return what runs cost if each costs as much as this session did."""
    if not cost.calls:
        return "What it costs is not known: this session has no record of tokens."
    tokens = (cost.tokens.input + cost.tokens.output) * times
    if cost.unpriced == cost.calls:
        return f"About {tokens:,} tokens, as much as this session each time. The price of its model is not known."
    least = "at least " if cost.unpriced else ""
    return f"About {least}{dollars(cost.cost * times)} ({tokens:,} tokens): this session cost {cost_text(cost)}."


def _in_order(runs: Sequence[RunFacts]) -> list[PathGroup]:
    """Return the groups in the order of their first runs, so that none moves while others are added."""
    first = {run.path: number for number, run in reversed(list(enumerate(runs)))}
    return sorted(by_path(runs), key=lambda group: first[group.path])
