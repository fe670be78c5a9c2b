"""Answers to long-running calls in an eval case: they name the recorded calls, and the agent that is evaluated makes new ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector_app.analysis.eval_scores import text_of
from runtime.errors import KnownError

if TYPE_CHECKING:
    from google.genai import types

    from inspector_app.exchange.eval_sets import Turn


class AnswerError(KnownError):
    """An answer that cannot be given; the message says why."""


class RecordedAnswers:
    """Gives a case's answers to the calls that wait in the new session. `adk eval` refuses such a case.

    Args:
        turns: the case's turns.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._new_ids: dict[str, str] = {}  # recorded call → the call that its answer was given to

    def message(self, index: int, events: Sequence[Mapping[str, Any]]) -> types.Content:
        """Return a turn's message, with the ids of the new session's calls.

        A recorded call's answer is given to the pending call of the same name: to one with the same arguments, else to the first.

        Args:
            index: the turn's place, from 0.
            events: event JSON of the new session so far.

        Raises:
            AnswerError: no such call waits, or the case lacks the message before the call.
        """
        message = self._turns[index].message.model_copy(deep=True)
        for part in message.parts or ():
            if part.function_response is not None:
                part.function_response.id = self._new_id(index, part.function_response, events)
        return message

    def _new_id(self, index: int, answer: types.FunctionResponse, events: Sequence[Mapping[str, Any]]) -> str:
        recorded = answer.id or ""
        if recorded and recorded in self._new_ids:  # a further answer to the same call
            return self._new_ids[recorded]
        place = f"Turn {index + 1} answers {answer.name}, but"
        if any(call.id == recorded for call in self._turns[index].calls):
            raise AnswerError(
                f"{place} the case lacks the message that led to this call: google-adk keeps only the answer of a resumed invocation. "
                "Export the session as an eval set again."
            )
        waiting = [call for call in _pending_calls(events) if call["name"] == answer.name and call["id"] not in self._new_ids.values()]
        if not waiting:
            raise AnswerError(f"{place} no call of it waits for an answer.")
        args = next((call.args or {} for turn in self._turns[:index] for call in turn.calls if call.id == recorded), None)
        new = str(next((call for call in waiting if (call.get("args") or {}) == args), waiting[0])["id"])
        self._new_ids[recorded or new] = new
        return new


def _pending_calls(events: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the long-running calls of events."""
    for event in events:
        pending = event.get("long_running_tool_ids") or ()
        for part in (event.get("content") or {}).get("parts") or ():
            if (call := part.get("function_call")) and call.get("id") in pending:
                yield call


def said_by_user(message: types.Content) -> str:
    """Return a message's text; for an answer to a call, the call's name and the answer."""
    answers = [part.function_response for part in message.parts or () if part.function_response]
    return "\n".join(
        filter(None, (text_of(message), *(f"{one.name} → {json.dumps(one.response, ensure_ascii=False, default=str)}" for one in answers)))
    )
