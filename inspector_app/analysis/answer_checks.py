"""Answers that are empty, or were cut off."""

from __future__ import annotations

from collections.abc import Iterator

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.presentation.values import visible
from runtime.history.invocations import is_empty_answer

_WHOLE = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED", "OTHER"})


def empty_answers(facts: SessionFacts) -> Iterator[Finding]:
    """Find answers in which the model said nothing, and calls no tool."""
    last = {each.last_event_id for each in facts.invocations if each.status == "finished"}
    for event in facts.events:
        if event.id in last and is_empty_answer(event):
            yield facts.finding(
                "empty answer",
                "warning",
                event.id,
                f"{visible(event.author)} ended its turn with an empty answer.",
                "The person sees nothing, though the request was paid for.",
                "Read the request of this call, and tell the agent in its instruction to answer after a tool's result.",
            )


def answers_cut_off(facts: SessionFacts) -> Iterator[Finding]:
    """Find answers that the model did not end itself."""
    for event in facts.events:
        reason = getattr(event.finish_reason, "value", event.finish_reason)
        if reason is None or reason in _WHOLE or event.partial or event.invocation_id in facts.rewound:
            continue
        at_limit = reason == "MAX_TOKENS"
        yield facts.finding(
            "answer cut off",
            "warning",
            event.id,
            "The answer was cut off at its token limit." if at_limit else f"The model ended the answer early: {visible(str(reason))}.",
            "Its end is missing, also from what later requests hold.",
            "Raise max_output_tokens, or ask for a shorter answer." if at_limit else "Read the answer and its request.",
        )
