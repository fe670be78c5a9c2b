"""The recording of a run up to one of its events, for repeating it. Pure.

The recording is what was committed: the models' answers and the tools' results. The events inside an agent that ran as a tool are not
stored, only its result, so such a call is either repeated from its result or run again completely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from runtime.errors.known_error import KnownError
from runtime.errors.not_found_error import NotFoundError
from runtime.events.marks import REQUEST_CALLS, inner_run, is_inner_progress, is_progress, is_state_edit
from runtime.sessions.state import scope_of

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


class RecordingError(KnownError):
    """A run cannot be repeated from this event, or with this change; the message says why."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One invocation up to one of its events.

    Attributes:
        invocation_id: its id.
        messages: the user's events: the message that started the invocation, then the answers to its calls.
        answers: all other events, in commit order.
        is_overridden: whether a person changed the last of them.
    """

    invocation_id: str
    messages: tuple[Event, ...]
    answers: tuple[Event, ...]
    is_overridden: bool = False

    @property
    def first_event_id(self) -> str:
        """The event before which to fork for repeating the run."""
        return self.messages[0].id

    @property
    def last(self) -> Event:
        """The last event of the recording."""
        return self.answers[-1] if self.answers else self.messages[-1]

    def with_override(self, content: types.Content) -> Recording:
        """Return the recording with other content in its last event; everything after it runs live.

        Args:
            content: a model's answer, or function responses to the same calls.

        Raises:
            RecordingError: the last event is neither a model's answer nor a tool's result, or the responses answer other calls.
        """
        last = self.last
        what = overridable_part(last)
        if what is None:
            raise RecordingError(f"Event {last.id} is neither a model's answer nor a tool's result, so it cannot be changed.")
        if what == "result":
            given = [part.function_response.id for part in content.parts or [] if part.function_response]
            if given != [response.id for response in last.get_function_responses()]:
                raise RecordingError("The changed result must answer the same calls as the recorded one.")
        changed = last.model_copy(update={"content": content, "error_code": None, "error_message": None})
        return replace(self, answers=(*self.answers[:-1], changed), is_overridden=True)

    @property
    def notes(self) -> list[str]:
        """Sentences for the person who repeats the run."""
        shared = sorted({key for event in self.answers for key in event.actions.state_delta if scope_of(key) in ("user", "app")})
        if not shared:
            return []
        return [f"Running again writes keys that other sessions share: {', '.join(shared)}."]


def recording_until(events: Sequence[Event], event_id: str) -> Recording:
    """Return the recording of an event's invocation up to and including that event.

    Raises:
        NotFoundError: the event does not exist.
        RecordingError: its invocation has no user message: it is a summary, a rewind, or a manual edit.
    """
    last = next((index for index, event in enumerate(events) if event.id == event_id), None)
    if last is None:
        raise NotFoundError(f"The session has no event {event_id!r}.")
    invocation_id = events[last].invocation_id
    own = [event for event in events[: last + 1] if event.invocation_id == invocation_id and not _is_manual(event)]
    messages = tuple(event for event in own if event.author == "user" and event.content)
    if not messages or messages[0] is not own[0]:
        raise RecordingError(f"The invocation {invocation_id} did not begin with a message, so there is nothing to run again.")
    return Recording(invocation_id, messages, tuple(event for event in own if event.author != "user"))


def _is_manual(event: Event) -> bool:
    """Return whether no agent yielded an event: a manual state edit, or progress of a call."""
    return is_state_edit(event) or is_progress(event) or is_inner_progress(event)


def overridable_part(event: Event) -> Literal["answer", "result"] | None:
    """Return which content of an event can be changed before a re-run; None if nothing can."""
    if event.author == "user":
        return None
    if event.get_function_responses():
        return "result"
    return "answer" if is_agent_output(event) else None


def is_agent_output(event: Event) -> bool:
    """Return whether an event is an agent's text or calls, and neither a result nor a request to a person."""
    if event.get_function_responses() or inner_run(event) or any(call.name in REQUEST_CALLS for call in event.get_function_calls()):
        return False
    return bool((event.content and event.content.parts) or event.error_code)
