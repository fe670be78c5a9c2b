"""Examples in an agent's instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import TypeAdapter

from runtime.configs.agent_builder import resolve_fully_qualified_name
from runtime.configs.agent_config import BaseToolConfig, ToolArgsConfig
from runtime.examples.base_example_provider import BaseExampleProvider
from runtime.examples.example import Example
from runtime.examples.example_util import build_example_si
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.models.llm_request import LlmRequest


class ExampleToolConfig(BaseToolConfig):
    """The arguments of an `ExampleTool` in a YAML file.

    Attributes:
        examples: examples, or module and name of a `BaseExampleProvider`.
    """

    examples: list[Example] | str


class ExampleTool(BaseTool):
    """Adds examples to the instruction of each model call. The model cannot call it.

    Attributes:
        examples: the examples, or their source.

    Args:
        examples: see above; examples may be dicts.
    """

    def __init__(self, examples: list[Example] | BaseExampleProvider) -> None:
        super().__init__(name="example_tool", description="example tool")
        self.examples = TypeAdapter(list[Example]).validate_python(examples) if isinstance(examples, list) else examples

    @classmethod
    def from_config(cls, config: ToolArgsConfig, config_abs_path: str) -> Self:
        """See `BaseTool.from_config`.

        Raises:
            ValueError: the name is not one of a `BaseExampleProvider`.
        """
        examples = ExampleToolConfig.model_validate(config.model_dump()).examples
        if isinstance(examples, list):
            return cls(examples)
        provider = resolve_fully_qualified_name(examples)
        if not isinstance(provider, BaseExampleProvider):
            raise ValueError(f"{examples} is not a BaseExampleProvider")
        return cls(provider)

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the examples to a request whose invocation began with a text; see `BaseTool.process_llm_request`."""
        parts = tool_context.user_content.parts if tool_context.user_content else None
        query = parts[0].text if parts else None
        if query:
            llm_request.append_instructions([build_example_si(self.examples, query, llm_request.model)])
