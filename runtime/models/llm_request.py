"""Requests to language models."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field

from runtime.support.unchecked import construct_unchecked

logger = logging.getLogger(__name__)


class OfferedTool(Protocol):
    """What a request needs of a tool; every `BaseTool` is one."""

    @property
    def name(self) -> str:
        """The name by which the model calls the tool."""

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        """Return the declaration sent to the model; None if the tool is not offered as a function."""


class LlmRequest(BaseModel):
    """One request to a language model, in google-genai's types.

    Attributes:
        model: the model's name.
        contents: the conversation.
        config: system instruction, tools, schemas and sampling.
        live_connect_config: the settings of a live conversation.
        tools_dict: tool name → the tool that answers calls of that name; never sent.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=(), defer_build=True)

    model: str | None = None
    contents: list[types.Content] = Field(default_factory=list)
    config: types.GenerateContentConfig = Field(default_factory=types.GenerateContentConfig)
    live_connect_config: types.LiveConnectConfig = Field(default_factory=lambda: construct_unchecked(types.LiveConnectConfig))
    tools_dict: dict[str, Any] = Field(default_factory=dict, exclude=True)

    def append_instructions(self, instructions: list[str] | types.Content) -> list[types.Content]:
        """Add paragraphs to the system instruction.

        Args:
            instructions: one text per paragraph, or a content. The files and bytes of a content are named in the instruction and added
                to the conversation, as models take texts alone in their instruction.

        Nothing is added to a system instruction that is not a string; a warning is logged.

        Returns:
            What was added to the conversation.

        Raises:
            TypeError: `instructions` is something else.
        """
        is_texts = isinstance(instructions, list) and all(isinstance(text, str) for text in instructions)
        if not (is_texts or isinstance(instructions, types.Content)):
            raise TypeError("instructions must be list[str] or types.Content")
        if isinstance(instructions, types.Content):
            instructions, shown = _referring(instructions.parts or [])
            self.append_instructions(instructions)
            self.contents.extend(shown)
            return shown
        if not instructions:
            return []
        present = self.config.system_instruction
        if present is not None and not isinstance(present, str):
            # As in google-adk: callbacks may set one of another type, and plugins that add to it come later.
            logger.warning(
                "Cannot append to system_instruction of unsupported type: %s. Set it to a string; an instruction was left out.",
                type(present).__name__,
            )
            return []
        self.config.system_instruction = "\n\n".join([present, *instructions] if present else instructions)
        return []

    def append_tools(self, tools: Sequence[OfferedTool]) -> None:
        """Add tools to `tools_dict`, and their declarations to the config.

        Args:
            tools: the tools to add; those without a declaration are skipped.
        """
        declarations = []
        for tool in tools:
            declaration = tool._get_declaration()
            if declaration:
                declarations.append(declaration)
                self.tools_dict[tool.name] = tool
        if not declarations:
            return
        if self.config.tools is None:
            self.config.tools = []
        for offered in self.config.tools:
            if isinstance(offered, types.Tool) and offered.function_declarations is not None:
                offered.function_declarations.extend(declarations)
                return
        self.config.tools.append(construct_unchecked(types.Tool, function_declarations=declarations))

    def set_output_schema(self, output_schema: Any) -> None:
        """Request JSON of a given type.

        Args:
            output_schema: a pydantic model class, a schema dict, or another type that google-genai accepts as a response schema.
        """
        self.config.response_schema = output_schema
        self.config.response_mime_type = "application/json"


def _referring(parts: Sequence[types.Part]) -> tuple[list[str], list[types.Content]]:
    """Return the parts' texts, with a reference in place of each file, and the contents that these refer to."""
    texts: list[str] = []
    shown: list[types.Content] = []
    for part in parts:
        blob, file = part.inline_data, part.file_data
        if part.text:
            texts.append(part.text)
        elif blob is not None or file is not None:
            name, kind = (f"inline_data_{len(shown)}", "inline binary data") if blob else (f"file_data_{len(shown)}", "file data")
            details = [
                f"'{(blob or file).display_name}'" if (blob or file).display_name else "",  # type: ignore[union-attr]
                f"URI: {file.file_uri}" if file is not None and file.file_uri else "",
                f"type: {(blob or file).mime_type}" if (blob or file).mime_type else "",  # type: ignore[union-attr]
            ]
            known = ", ".join(filter(None, details))
            texts.append(f"[Reference to {kind}: {name}{f' ({known})' if known else ''}]")
            told = types.Part(text=f"Referenced {kind.replace('binary ', '')}: {name}")
            shown.append(types.Content(role="user", parts=[told, types.Part(inline_data=blob, file_data=file)]))
    return texts, shown
