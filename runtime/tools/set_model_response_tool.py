"""Structured answers of agents with tools: models do not support both at once, so the answer is a function call too."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any, get_args, get_origin

from google.genai import types
from pydantic import BaseModel

from runtime.contexts.context import ToolContext
from runtime.events.marks import SET_ANSWER_CALL
from runtime.support.texts import text_of
from runtime.tools.base_tool import BaseTool
from runtime.tools.function_declaration import declare
from runtime.tools.function_signature import Argument, arguments_of
from runtime.tools.output_schema import OutputSchemaError, shaped

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest

_DESCRIPTION = "Gives your final answer, in the form it must have. Call it once, when you need no other tool any more."
_INSTRUCTION = (
    f"When you know the answer, give it by calling `{SET_ANSWER_CALL}`, and in no other way. You may use your other tools before that."
)


class SetModelResponseTool(BaseTool):
    """Receives the final answer of an agent that has an `output_schema` and tools.

    Args:
        output_schema: the type of the answer. A pydantic model's fields become the arguments; a list of such models has the single
            argument `items`, and any other type `response`.
    """

    def __init__(self, output_schema: Any) -> None:
        super().__init__(name=SET_ANSWER_CALL, description=_DESCRIPTION)
        self.output_schema = output_schema

    @property
    def _has_fields(self) -> bool:
        return _is_model(self.output_schema)

    @property
    def _only_argument(self) -> str:
        of_models = get_origin(self.output_schema) is list and any(map(_is_model, get_args(self.output_schema)))
        return "items" if of_models else "response"

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        schema = self.output_schema
        if self._has_fields:
            return declare(self.name, self.description, arguments_of(schema))
        if not isinstance(schema, (dict, types.Schema)):
            return declare(self.name, self.description, [Argument(self._only_argument, schema, Argument.REQUIRED)])
        declaration = types.FunctionDeclaration(name=self.name, description=self.description)
        if isinstance(schema, dict):
            parameters = {"type": "object", "properties": {"response": schema}, "required": ["response"]}
            declaration.parameters_json_schema = parameters
        else:
            declaration.parameters = types.Schema(type=types.Type.OBJECT, properties={"response": schema}, required=["response"])
        return declaration

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Validate the answer; a mismatch is reported to the model. See `BaseTool.run_async`."""
        try:
            answer = shaped(self.output_schema, json.dumps(args if self._has_fields else args.get(self._only_argument)))
        except OutputSchemaError as error:
            return {"error": f"The answer does not have the form it must have: {text_of(error)}. Try again."}
        tool_context.actions.set_model_response = answer
        return answer

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the tool and the instruction to answer with it; see `BaseTool.process_llm_request`."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        llm_request.append_instructions([_INSTRUCTION])


def _is_model(annotation: Any) -> bool:
    return inspect.isclass(annotation) and issubclass(annotation, BaseModel)
