"""Running of eval cases on an agent, and their scores."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from inspector_app.analysis.eval_answers import AnswerError, RecordedAnswers
from inspector_app.analysis.eval_criteria import Criterion
from inspector_app.analysis.eval_scores import RESPONSE, TRAJECTORY, ResponseMatch, text_of, why_no_match
from inspector_app.exchange.eval_cases import NO_USER, conversation
from inspector_app.exchange.eval_sets import EvalCase, Turn, turn_of
from inspector_app.presentation.strict_json import event_json
from runtime.errors import KnownError
from runtime.sessions.session_key import SessionKey
from runtime.support.ids import new_uuid
from runtime.support.lazy import lazy_module
from runtime.support.texts import error_text
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events import event as event_model
else:
    event_model = lazy_module("runtime.events.event")

Status = Literal["passed", "failed", "not evaluated"]
Judge = Callable[[EvalCase, Sequence[Turn], Criterion], "Score"]
_NO_JUDGE = "needs google-adk, which the agent's engine is not"


class NothingMeasuredError(KnownError):
    """No metric of an eval can be computed here; the message says why."""


class EvalAgent(Protocol):
    """An agent that cases are run on, or messages are sent to again."""

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """Create a session."""

    def run(self, key: SessionKey, message: types.Content) -> AsyncGenerator[event_model.Event, None]:
        """Send a message and yield the events."""

    async def events(self, key: SessionKey) -> list[event_model.Event]:
        """Return a session's events."""


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's result.

    Attributes:
        metric: its name.
        threshold: the lowest score that passes.
        turns: the score of each turn; None where it was not evaluated.
        overall: their mean; None if nothing was evaluated.
        note: why it was not evaluated; empty if it was.
    """

    metric: str
    threshold: float | None
    turns: tuple[float | None, ...] = ()
    overall: float | None = None
    note: str = ""

    @property
    def status(self) -> Status:
        """Whether the score passes."""
        if self.overall is None or self.threshold is None:
            return "not evaluated"
        return "passed" if self.overall >= self.threshold else "failed"

    @property
    def text(self) -> str:
        """The score, and the threshold that it does not reach."""
        if self.overall is None:
            return "not evaluated"
        least = "" if self.threshold is None or self.status == "passed" else f" < {self.threshold:g}"
        return f"{self.overall:.3f}{least}"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case went.

    Attributes:
        eval_set: the eval set's id.
        case: the case.
        actual: what the agent did, turn by turn.
        scores: one for each criterion; empty if the run failed.
        key: the session; None if none was made.
        error: why the run failed; empty if it did not.
    """

    eval_set: str
    case: EvalCase
    actual: tuple[Turn, ...] = ()
    scores: tuple[Score, ...] = ()
    key: SessionKey | None = None
    error: str = ""

    @property
    def status(self) -> Status:
        """As `adk eval` says: failed if one metric failed, passed if one passed and none failed."""
        found = {score.status for score in self.scores}
        if self.error or "failed" in found:
            return "failed"
        return "passed" if "passed" in found else "not evaluated"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The criteria with what computes them.

    Attributes:
        criteria: what is measured.
        judge: computes the metrics that only google-adk has; None: they are not evaluated.
    """

    criteria: Sequence[Criterion]
    judge: Judge | None = None
    _no_match: str = field(default_factory=why_no_match)
    _match: list[ResponseMatch] = field(default_factory=list)

    @property
    def left_out(self) -> dict[str, str]:
        """Why metrics are not evaluated, by their names: known before the first case is run."""
        return {one.metric: reason for one in self.criteria if (reason := self._why_not(one))}

    def check(self) -> None:
        """Check that anything can be measured, before a model is asked.

        Raises:
            NothingMeasuredError: every metric is left out.
        """
        left_out = self.left_out
        if self.criteria and len(left_out) == len(self.criteria):
            reasons = "; ".join(f"{metric} {reason}" for metric, reason in left_out.items())
            raise NothingMeasuredError(f"No case was run, as nothing can be measured: {reasons}")

    async def run(self, agent: EvalAgent, eval_set: str, case: EvalCase) -> CaseResult:
        """Hold a case's conversation with an agent and score it. An error of the agent fails the case.

        Args:
            agent: the agent.
            eval_set: the eval set's id.
            case: the case.
        """
        result = CaseResult(eval_set, case)
        if case.is_simulated:
            return replace(result, error="Its user is simulated by a model, which only google-adk can do: adk eval runs it.")
        actual: list[Turn] = []
        try:
            key = await agent.new_session(case.user or NO_USER, case.state, case.session_id or f"{case.id} {new_uuid()[:8]}")
            result = replace(result, key=key)
            answers = RecordedAnswers(case.turns)
            events: list[dict[str, Any]] = []
            for index, wanted in enumerate(case.turns):
                message = answers.message(index, events)
                said = await _turn_events(agent, key, message)
                events += said
                # Each turn is read alone: a resumed invocation has the events of several.
                made = [turn_of(one, Path(case.id), "the agent's turn") for one in conversation(said)]
                if not made and wanted.response is None and not wanted.steps:  # one of several answers: the others are still awaited
                    made = [Turn("", message, None, (), 0.0)]
                actual += made
        except AnswerError as error:
            return replace(result, actual=tuple(actual), error=str(error))
        except Exception as error:
            return replace(result, error=error_text(error))
        if len(actual) != len(case.turns):
            return replace(result, actual=tuple(actual), error=f"The agent answered {len(actual)} of {len(case.turns)} messages.")
        scores = await run_in_thread(self._scores, case, actual)  # a model may judge for minutes
        return replace(result, actual=tuple(actual), scores=scores)

    def _scores(self, case: EvalCase, actual: Sequence[Turn]) -> tuple[Score, ...]:
        return tuple(self._score(case, actual, one) for one in self.criteria)

    def _why_not(self, criterion: Criterion) -> str:
        if criterion.is_judged:
            return "" if self.judge else _NO_JUDGE
        return self._no_match if criterion.metric == RESPONSE else ""

    def _score(self, case: EvalCase, actual: Sequence[Turn], criterion: Criterion) -> Score:
        name, threshold = criterion.metric, criterion.threshold
        if reason := self._why_not(criterion):
            return Score(name, threshold, note=reason)
        if criterion.is_judged and self.judge:
            return self.judge(case, actual, criterion)
        if name == TRAJECTORY:
            each: list[float | None] = [
                criterion.trajectory.score(done.calls, wanted.calls) for done, wanted in zip(actual, case.turns, strict=True)
            ]
        else:
            if not self._match:
                self._match.append(ResponseMatch())
            each = [self._response_score(case, done, wanted) for done, wanted in zip(actual, case.turns, strict=True)]
        given = [one for one in each if one is not None]
        return Score(name, threshold, tuple(each), sum(given) / len(given) if given else None)

    def _response_score(self, case: EvalCase, done: Turn, wanted: Turn) -> float | None:
        if case.has_answers and not text_of(done.response) and not text_of(wanted.response):
            return None  # a turn that ends with a pending call; google-adk gives 0 to two empty texts, but cannot run such a case
        return self._match[0].score(done.response, wanted.response)


async def _turn_events(agent: EvalAgent, key: SessionKey, message: types.Content) -> list[dict[str, Any]]:
    """Send a message; return the events as JSON, the message first."""
    found: list[dict[str, Any]] = []
    async with aclosing(agent.run(key, message.model_copy(deep=True))) as events:
        async for event in events:
            if not found:
                asked = event_model.Event(author="user", invocation_id=event.invocation_id, content=message)
                found.append(json.loads(event_json(asked)))
            found.append(json.loads(event_json(event)))
    return found
