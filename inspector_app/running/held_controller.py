"""The held agent: shows where it is held, and applies the user's decision to its call before it continues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from inspector_app.running.held_card import CallKind, Decision, HeldCard
from inspector_app.running.hold_text import words_for
from inspector_app.running.view_data import HoldText
from inspector_app.workspace.code_places import links_of_hold
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from runtime.debugger.calls import CallEditError, ModelCall, ToolCall
from runtime.debugger.hold import Hold


class HeldController(QObject):
    """A controller that fills the card of a held agent and releases the agent.

    Args:
        run: the run whose holds are shown.
        agents: the loaded agent, which knows where its code is.
        card: the card to fill.
    """

    def __init__(self, run: CurrentRun, agents: CurrentAgent, card: HeldCard, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._agents = agents
        self._card = card
        run.hold_changed.connect(self._on_hold_changed)
        run.beside_changed.connect(self._on_beside_changed)
        card.continue_requested.connect(self._on_continue_requested)

    def release(self, continue_run: Callable[[], None]) -> None:
        """Apply the card's decision to the call and let the agent continue; show a decision that cannot be applied and keep holding.

        Args:
            continue_run: the command that continues the run.
        """
        hold = self._run.hold
        try:
            if hold is not None and hold.call is not None and (decision := self._card.decision) is not None:
                _decide(hold.call, decision)
        except (CallEditError, ValueError) as error:
            self._card.show_problem(str(error))
            return
        continue_run()

    def _on_continue_requested(self) -> None:
        self.release(self._run.continue_run)

    def _on_hold_changed(self, hold: Hold | None) -> None:
        self._card.give_up_focus()
        if hold is None:
            self._card.hide()
            return
        schema = hold.call.schema if isinstance(hold.call, ToolCall) else None
        loaded = self._agents.loaded
        self._card.code.set_links(links_of_hold(hold, loaded) if loaded is not None else [])
        self._card.show_hold(self._words(hold), _kind(hold), _before(hold), schema)

    def _on_beside_changed(self) -> None:
        if self._run.hold is not None:
            self._card.show_beside(self._words(self._run.hold).beside)

    def _words(self, hold: Hold) -> HoldText:
        return words_for(hold, self._run.held_by, self._run.waiting, self._run.runs_on)


def _decide(call: ToolCall | ModelCall, decision: Decision) -> None:
    call.reset()
    if isinstance(call, ModelCall):
        if decision.choice == "answer":
            call.answer(decision.value)
        elif decision.value is not None:
            call.edit_request(decision.value)
    elif decision.choice == "result":
        call.give_result(decision.value)
    elif decision.choice == "raise":
        call.fail(decision.value)
    elif decision.value is not None:
        call.edit_args(decision.value)


def _kind(hold: Hold) -> CallKind | None:
    if isinstance(hold.call, ToolCall):
        return "failed tool" if hold.call.error is not None else "tool"
    if isinstance(hold.call, ModelCall):
        return "failed model" if hold.call.error is not None else "model"
    return None


def _before(hold: Hold) -> dict[str, Any] | None:
    if isinstance(hold.call, ToolCall):
        return hold.call.args
    return hold.call.json() if isinstance(hold.call, ModelCall) else None
