"""Repeating a recorded run in a fork: with recorded answers as far as they go, and live from there on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from runtime.contexts.run_config import RunConfig
from runtime.events.event import Event
from runtime.forks.recorded_answers import NOT_ASKED
from runtime.forks.recording import Recording
from runtime.forks.replay import Replay
from runtime.models.llm_request import LlmRequest
from runtime.runners import Runner
from runtime.running.invocation_start import answered_calls, call_event
from runtime.sessions.session_key import SessionKey


class Rerun:
    """One repeated run; see `Replay`.

    Args:
        runner: the app's Runner; its session service has the fork.
        key: the fork, made before `recording.first_event_id`.
    """

    def __init__(
        self,
        runner: Runner,
        key: SessionKey,
        recording: Recording,
        run_config: RunConfig | None = None,
        *,
        runs_tools: bool = False,
        strict: bool = False,
        on_request: Callable[[str, LlmRequest], None] | None = None,
    ) -> None:
        self._replay = Replay(recording, runs_tools=runs_tools, strict=strict, on_request=on_request)
        self.answers = self._replay.answers
        self._runner = runner
        self._key = key
        self._recording = recording
        self._run_config = run_config

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run it and yield its events, as `Runner.run_async` does.

        A person's recorded answers to calls are given again. If the run has diverged and does not wait for one, it ends there.
        """
        plugins = self._runner.plugin_manager
        plugins.register_plugin(self._replay, first=True)
        try:
            for number, message in enumerate(self._recording.messages):
                if number and not await self._is_requested(message):
                    self.answers.divergences.append(NOT_ASKED)
                    return
                async with aclosing(self._run(message)) as events:
                    async for event in events:
                        yield event
        finally:
            plugins.remove_plugin(self._replay)

    def _run(self, message: Event) -> AsyncGenerator[Event, None]:
        key = self._key
        return self._runner.run_async(
            user_id=key.user_id,
            session_id=key.session_id,
            new_message=message.content and message.content.model_copy(deep=True),
            state_delta=dict(message.actions.state_delta) or None,
            run_config=self._run_config,
        )

    async def _is_requested(self, answer: Event) -> bool:
        key = self._key
        session = await self._runner.session_service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        return session is not None and call_event(session.events, answered_calls(answer.content)) is not None
