"""Plan, act, reason: for models without built-in thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from runtime.planners.base_planner import BasePlanner

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest

PLANNING, REPLANNING, REASONING, ACTION, FINAL_ANSWER = (
    f"/*{name}*/" for name in ("PLANNING", "REPLANNING", "REASONING", "ACTION", "FINAL_ANSWER")
)
_THOUGHTS = (PLANNING, REPLANNING, REASONING, ACTION)
_INSTRUCTION = f"""Answer in these steps, each under its mark:
{PLANNING} a numbered plan that the tools you have can carry out;
{ACTION} carry it out by calling tools, with {REASONING} between the calls: what you know now and what comes next;
{REPLANNING} a better plan, if the first one fails;
{FINAL_ANSWER} the answer. If something is missing that only the user knows, ask for it here."""


class PlanReActPlanner(BasePlanner):
    """Makes the model write down its plan; the text before the final answer is kept as thoughts."""

    def build_planning_instruction(self, readonly_context: ReadonlyContext, llm_request: LlmRequest) -> str | None:
        """Return the planning instruction; see `BasePlanner`. Earlier plans become plain text, as thoughts are not sent to models."""
        llm_request.contents = [
            content.model_copy(update={"parts": [part.model_copy(update={"thought": None}) for part in content.parts or []]})
            if any(part.thought for part in content.parts or [])
            else content
            for content in llm_request.contents
        ]
        return _INSTRUCTION

    def process_planning_response(self, callback_context: CallbackContext, response_parts: list[types.Part]) -> list[types.Part] | None:
        """Mark plans as thoughts and drop all but calls after the first function call; see `BasePlanner`."""
        kept: list[types.Part] = []
        for part in response_parts:
            if part.function_call:
                kept.append(part)
            elif not any(one.function_call for one in kept):
                kept.extend(_split(part))
        return kept


def _split(part: types.Part) -> list[types.Part]:
    """Split a text part into thought and final answer."""
    if not part.text or part.thought:
        return [part]
    before, mark, after = part.text.rpartition(FINAL_ANSWER)
    if not mark:
        is_thought = part.text.lstrip().startswith(_THOUGHTS)
        return [part.model_copy(update={"thought": True})] if is_thought else [part]
    thought = [types.Part(text=before, thought=True)] if before.strip() else []
    return [*thought, types.Part(text=after.lstrip())]
