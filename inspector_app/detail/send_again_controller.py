"""Sending a recorded request once more to the model of the loaded agent."""

from __future__ import annotations

import json
import time
from typing import Any

from PySide6.QtCore import QObject

from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.request_controller import RequestController, ShownRequest
from inspector_app.detail.send_again_dialog import SendAgainDialog
from inspector_app.engines.protocol import Agent
from inspector_app.presentation.costs import dollars
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import tokens_of
from inspector_app.presentation.values import visible_lines
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_agent import CurrentAgent
from runtime.support.texts import error_text

HIDDEN = "(redacted)"


class SendAgainController(QObject):
    """A controller that offers to send the displayed request again, says first what it costs, and shows the answer.

    Args:
        requests: knows the displayed request.
        agents: the loaded agent, whose model and key are used.
        prices: the prices.
        tasks: runs the call.
        detail: the view with the button.
    """

    def __init__(self, requests: RequestController, agents: CurrentAgent, prices: Prices, tasks: Tasks, detail: EventDetail) -> None:
        super().__init__(detail)
        self._requests = requests
        self._agents = agents
        self._prices = prices
        self._tasks = tasks
        self._detail = detail
        requests.request_shown.connect(self._show_state)
        agents.agent_loaded.connect(self._show_state)
        detail.request.send_again_requested.connect(self._on_requested)

    def _show_state(self, *_: object) -> None:
        self._detail.request.set_send_again(self._blocked(self._requests.shown))

    def _blocked(self, shown: ShownRequest | None) -> str | None:
        """Return why the request cannot be sent again; None if it can, an empty text if there is none to send."""
        loaded = self._agents.loaded
        if shown is None:
            return ""
        if loaded is None:
            return f"Open the agent of {shown.app_name} first (Ctrl+O)."
        if loaded.name != shown.app_name:
            return f"The open agent is {loaded.name}; open that of {shown.app_name} to send this request again."
        if loaded.root.find_agent(shown.event.author) is None:
            return f"{loaded.name} has no agent {shown.event.author} any more."
        return None

    def _on_requested(self) -> None:
        shown, loaded = self._requests.shown, self._agents.loaded
        if shown is None or loaded is None or self._blocked(shown) is not None:
            return
        request = {"model": shown.request.model, "config": dict(shown.request.config), "contents": list(shown.request.contents)}
        dialog = SendAgainDialog(request, self._words_before(shown, loaded), _answer_text(shown.event.content), self._detail)
        dialog.send_requested.connect(lambda edited: self._tasks.spawn(self._send(dialog, loaded, shown, edited), "Sending the request"))
        dialog.open()

    def _words_before(self, shown: ShownRequest, loaded: Agent) -> str:
        """Return what a call costs, before it is made."""
        tokens = tokens_of(shown.event.usage_metadata)
        model = shown.event.model_version or shown.request.model
        words = f"This calls {model or 'the model'} ({loaded.engine_title}), with the agent's own key. Nothing is stored and no tool runs. "
        if tokens is None:
            words += "What it costs is unknown, as the original call reported no tokens."
        else:
            cost = self._prices.cost(model, tokens, time.time())
            used = f"{tokens.input:,} tokens in and {tokens.output:,} out"
            words += f"It costs about {dollars(cost)}" if cost is not None else "Its price is unknown"
            words += f": the original call used {used}."
        if HIDDEN in json.dumps([shown.request.config, shown.request.contents], default=str):
            words += f" Secrets were replaced in the recording and are sent as {HIDDEN}."
        return words

    async def _send(self, dialog: SendAgainDialog, loaded: Agent, shown: ShownRequest, request: dict[str, Any]) -> None:
        is_open = [True]
        dialog.destroyed.connect(lambda: is_open.clear())
        began = time.perf_counter()
        try:
            answer = await loaded.ask_model(shown.event.author, request)
        except Exception as error:  # the agent's code, the provider, or the edited request
            if is_open:
                dialog.show_answer(f"No answer: {visible_lines(error_text(error))}", "")
            return
        seconds = time.perf_counter() - began
        tokens = tokens_of(answer.get("usage_metadata"))
        facts = [f"{seconds:.1f} s"]
        if tokens is not None:
            cost = self._prices.cost(answer.get("model_version") or request.get("model"), tokens, time.time())
            facts += [
                f"{tokens.input:,} tokens in, {tokens.output:,} out",
                dollars(cost) if cost is not None else "cost unknown",
            ]
        failure = " ".join(filter(None, (answer.get("error_code"), answer.get("error_message"))))
        if is_open:
            dialog.show_answer(failure or _answer_text(answer.get("content")), " · ".join(facts))


def _answer_text(content: Any) -> str:
    """Return an answer's texts, and its other parts as JSON."""
    dumped = content.model_dump(mode="json", exclude_none=True) if hasattr(content, "model_dump") else content
    parts = dumped.get("parts") if isinstance(dumped, dict) else None
    texts = []
    for part in parts if isinstance(parts, list) else ():
        known = isinstance(part, dict) and isinstance(part.get("text"), str) and not part.get("thought")
        texts.append(part["text"] if known else json.dumps(part, ensure_ascii=False, indent=2))
    return visible_lines("\n".join(texts))
