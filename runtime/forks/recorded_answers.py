"""Which recorded answer belongs to a model or tool call of a repeated run, and where the run diverges from the recording. Pure.

The recorded events of one agent on one branch form a stream. Each event that the run commits consumes its counterpart in its stream, and
a model's answer is taken from the stream when the agent calls its model. A tool call is identified by its id, which came with the recorded
answer. When an agent diverges from the recording, its stream and the streams of all agents that see its branch become invalid; agents on
other branches do not see the change and continue from the recording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runtime.compare.event_differences import call_ids, differences_of
from runtime.events.kinds import kind_of
from runtime.events.marks import CALLED_WITHOUT_RESULT, EDITED, REPLAYED, inner_run
from runtime.forks.recording import Recording, is_agent_output

if TYPE_CHECKING:
    from runtime.events.event import Event

Stream = tuple[str, str | None]  # an agent's name and its branch


@dataclass(frozen=True, slots=True)
class Divergence:
    """A place where a run differs from its recording.

    Attributes:
        what: what happened there, without a full stop.
        is_live: whether the run continues without the recording from there on.
    """

    what: str
    is_live: bool = True

    def __str__(self) -> str:
        """Return it as a sentence."""
        return f"{self.what}; from there on the run is live." if self.is_live else f"{self.what}."


NOT_ASKED = Divergence("The run does not wait for the recorded answer, so the answer was not given", is_live=False)


class RecordedAnswers:
    """The answers of a recording that a repeated run has not used yet.

    Attributes:
        model_calls: how many model calls were answered from the recording.
        tool_calls: how many tool calls were answered from it.
        divergences: where the run differs from the recording.

    Args:
        recording: the recording to repeat.
        exact: an event with other content than its recorded counterpart is a divergence, too.
    """

    def __init__(self, recording: Recording, *, exact: bool = False) -> None:
        self._exact = exact
        self.model_calls = 0
        self.tool_calls = 0
        self.divergences: list[Divergence] = []
        self._left: dict[Stream, list[Event]] = {}
        self._results: dict[str, list[Event]] = {}
        self._questions: dict[str, list[Event]] = {}
        self._given: set[str] = set()
        self._overridden = recording.last if recording.is_overridden else None
        self._gone: list[str | None] = []
        for event in recording.answers:
            self._left.setdefault((event.author, event.branch), []).append(event)
            for call_id in _answered(event):
                self._results.setdefault(call_id, []).append(event)
            kept = inner_run(event)
            if kept is not None and not _answered(event):
                self._questions.setdefault(kept["call"], []).append(event)

    def of_model(self, agent: str, branch: str | None) -> Event | None:
        """Return the recorded answer to an agent's next model call; None if the call is to be made."""
        if not self._holds(branch):
            return None
        event = next((event for event in self._left.get((agent, branch), ()) if not _answered(event)), None)
        if event is None or not is_agent_output(event):
            self._check_nothing_left(agent, branch, f"{agent} called its model once more than was recorded")
            return None
        self.model_calls += 1
        self._given.add(event.id)
        return event

    def of_tool(self, tool: str, agent: str, branch: str | None, call_id: str | None) -> Event | None:
        """Return the event with the recorded result of a tool call; None if the call is to be made."""
        if not self._holds(branch):
            return None
        results = self._results.get(call_id or "")
        if not results:
            self._check_nothing_left(agent, branch, f"{tool} was called, but no result was recorded for this call", own=True)
            return None
        event = results.pop(0)
        self.tool_calls += 1
        self._given.add(event.id)
        return event

    def question_of(self, event: Event, call_id: str | None) -> Event | None:
        """Return the event that asked for an agent in a call whose recorded result is only the receipt; None for any other result."""
        questions = self._questions.get(call_id or "") if inner_run(event) is not None else None
        return questions.pop(0) if questions else None

    def take_counterpart(self, event: Event) -> Event | None:
        """Remove the recorded counterpart of an event that the run commits, and return it; None if there is none."""
        if event.partial or not self._holds(event.branch):
            return None
        left = self._left.get((event.author, event.branch), [])
        counterpart = _counterpart(event, left)
        if counterpart is None:
            if any(not _answered(other) for other in left):
                self._diverge(event.branch, f"{event.author} committed something else ({kind_of(event)}) than was recorded")
            return None
        left.remove(counterpart)
        if self._exact and (found := _difference(counterpart, event)):
            self._diverge(event.branch, found)
        return counterpart

    def marks_of(self, event: Event) -> dict[str, Any]:
        """Return what the event that repeats a recorded one records in its `custom_metadata`; empty if it was not answered from it."""
        if event.id not in self._given:
            return {}
        marks: dict[str, Any] = {REPLAYED: event.id}
        if event is self._overridden:
            marks[EDITED] = _edits(event)
        return marks

    def _check_nothing_left(self, agent: str, branch: str | None, what: str, *, own: bool = False) -> None:
        """Note a divergence if the recording has events left for the agents that see this one.

        Args:
            agent, branch: the agent of the unrecorded action.
            what: a phrase that describes the action.
            own: count only this agent's own answers, because other calls of its turn are still being answered.
        """
        streams = [(agent, branch)] if own else [stream for stream in self._left if _sees(stream[1], branch)]
        left = [event for stream in streams for event in self._left.get(stream, ())]
        if any(is_agent_output(event) if own else not _answered(event) for event in left):
            self._diverge(branch, what)

    def _diverge(self, branch: str | None, what: str) -> None:
        self._gone.append(branch)
        self.divergences.append(Divergence(what))

    def _holds(self, branch: str | None) -> bool:
        return not any(_sees(branch, gone) for gone in self._gone)


def _sees(branch: str | None, other: str | None) -> bool:
    """Return whether agents on two branches see each other's events, in one direction or the other."""
    if branch is None or other is None or branch == other:
        return True
    return branch.startswith(other + ".") or other.startswith(branch + ".")


def _answered(event: Event) -> list[str]:
    """Return the ids of the calls that an event answers, including those that returned nothing."""
    without: list[str] = (event.custom_metadata or {}).get(CALLED_WITHOUT_RESULT, [])
    return [*(response.id or "" for response in event.get_function_responses()), *without]


def _counterpart(event: Event, left: list[Event]) -> Event | None:
    answered = _answered(event)
    if answered:
        return next((other for other in left if set(answered) & set(_answered(other))), None)
    other = next((other for other in left if not _answered(other)), None)
    return other if other is not None and _shape(other) == _shape(event) else None


def _shape(event: Event) -> tuple[Any, ...]:
    return kind_of(event), [call.name for call in event.get_function_calls()]


def _difference(recorded: Event, event: Event) -> str:
    """Return what is different in an event as a phrase; empty if it is as recorded."""
    if is_agent_output(recorded):
        return ""  # the recorded answer itself
    for each in differences_of(recorded, event, call_ids([recorded, event])):
        if each.area not in ("tokens", "actions") and not each.name.startswith("temp:"):
            what = f"{each.area} {each.name}".strip()
            return f"{event.author} committed another {what} than was recorded: {each.right!r:.200} instead of {each.left!r:.200}"
    return ""


def _edits(event: Event) -> dict[str, Any]:
    """Return the description of a person's change in an answer, as `runtime.debugger.interception` marks it."""
    results = {response.id or "": {"tool": response.name, "result": response.response} for response in event.get_function_responses()}
    return {"calls": results} if results else {"model": {"answer": True}}
