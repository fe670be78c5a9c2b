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
_INSTRUCTION = f"""Find out what you need with the tools that you have; rely on them more than on what you remember.

Answer in these steps, each under its mark:
{PLANNING} a numbered plan in words. It covers everything that the user asks, and each step says which of your tools it uses;
{ACTION} the tools that carry out the plan, with {REASONING} between them: what you know now from their results, and what comes next;
{REPLANNING} a better plan, made from what you have seen, if the first one fails; then carry that out;
{FINAL_ANSWER} one final answer at the end. It is precise and has the form that the user asks for. If your tools and what you know are not
enough for an answer, say why, and ask for what is missing.

Call only tools that are described to you, and only with the parameters that they have. Write no code of your own besides these calls.
Ask when something is unclear. Use what this conversation already says before you call a tool again."""


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
