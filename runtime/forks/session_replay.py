"""Running a whole stored session again, with its recorded answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

from runtime.forks.recorded_answers import Divergence, RecordedAnswers
from runtime.forks.recording import Recording, RecordingError, recording_until

if TYPE_CHECKING:
    from runtime.events.event import Event


class Repeat(Protocol):
    """One invocation's run that is repeated in a fork; see `Rerun`."""

    @property
    def answers(self) -> RecordedAnswers:
        """How many answers came from the recording, and where the run diverged."""

    def events(self) -> AsyncGenerator[Event, None]:
        """Run it and yield its events."""


def recordings_of(events: Sequence[Event]) -> list[Recording]:
    """Return the recordings of a session's invocations that began with a message, in order.

    Args:
        events: the session's events, in commit order.

    Raises:
        RecordingError: there is none.
    """
    last = {event.invocation_id: event.id for event in events if event.invocation_id}
    found = []
    for name in dict.fromkeys(event.invocation_id for event in events if event.invocation_id):
        try:
            found.append(recording_until(events, last[name]))
        except RecordingError:
            continue  # a summary, a rewind or a manual edit
    if not found:
        raise RecordingError("The session has no message, so there is nothing to run again.")
    return found


class SessionReplay:
    """A session that runs again.

    Attributes:
        model_calls, tool_calls: how many were answered from the recording.
        divergences: where the run differs.

    Args:
        recordings: the session's recordings.
        repeat: returns the repeated run of a recording.
        goes_on: after a divergence, run the next messages, too.
    """

    def __init__(self, recordings: Sequence[Recording], repeat: Callable[[Recording], Repeat], *, goes_on: bool = False) -> None:
        self.model_calls = 0
        self.tool_calls = 0
        self.divergences: list[Divergence] = []
        self._recordings = recordings
        self._repeat = repeat
        self._goes_on = goes_on

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run the invocations one after another and yield their events."""
        for recording in self._recordings:
            run = self._repeat(recording)
            try:
                async with aclosing(run.events()) as events:
                    async for event in events:
                        yield event
            finally:
                self.model_calls += run.answers.model_calls
                self.tool_calls += run.answers.tool_calls
                self.divergences += run.answers.divergences
            if self.divergences and not self._goes_on:
                return
