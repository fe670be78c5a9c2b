"""The tool with which a model reads the session's files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.artifacts.readable import is_text, kind_of_bytes, text_of
from runtime.contexts.context import ToolContext
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.support.calling import call_bound
from runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from runtime.models.llm_request import LlmRequest

logger = logging.getLogger(__name__)

_DESCRIPTION = "Shows you the files with these names, for your next answer only."
_SHOWN_AS_THEY_ARE = ("image/", "audio/", "video/", "application/pdf")


class LoadArtifactsTool(BaseTool):
    """Lists the files for the model; requested files become part of its next request only, not of the session.

    Args:
        process_artifact: a sync or async function of a part and its file name, which returns the part to send in its place, or None for
            none. If it fails, the error is logged and the file is left out. By default, files that models do not accept are sent as text.
        enable_spreadsheet_parsing: spreadsheets as tables, which only the google-adk engine makes.

    Raises:
        EngineNeededError: spreadsheets are to be parsed.
    """

    def __init__(self, process_artifact: Callable[[types.Part, str], Any] | None = None, enable_spreadsheet_parsing: bool = False) -> None:
        super().__init__(name="load_artifacts", description=_DESCRIPTION)
        if enable_spreadsheet_parsing:
            raise EngineNeededError("LoadArtifactsTool(enable_spreadsheet_parsing=True)")
        self._process_artifact = process_artifact

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        names = types.Schema(type=types.Type.ARRAY, items=types.Schema(type=types.Type.STRING))
        parameters = types.Schema(type=types.Type.OBJECT, properties={"artifact_names": names})
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters=parameters)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return the requested names, which the next request reads from the response; see `BaseTool.run_async`."""
        names = args.get("artifact_names", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return {"error": "`artifact_names` must be a list of file names. Try again."}
        return {"artifact_names": names, "status": "The files are shown once. To see them again, call load_artifacts again."}

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the tool, the list of files, and the files just requested; see `BaseTool.process_llm_request`."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        await self._append_artifacts_to_llm_request(tool_context=tool_context, llm_request=llm_request)

    async def _append_artifacts_to_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the list of files and the files just requested. Subclasses may override it, as in google-adk."""
        known = await tool_context.list_artifacts()
        if not known:
            return
        llm_request.append_instructions(
            [
                f"There are these files: {json.dumps(known, ensure_ascii=False)}. Before you answer anything about one of them, call"
                " `load_artifacts`, even if you have seen it before, and do not rely on earlier answers about it."
            ]
        )
        for name in _asked_for(llm_request):
            listed = next((candidate for candidate in (name, f"user:{name}") if candidate in known), None)  # models drop the prefix
            part = await tool_context.load_artifact(listed) if listed is not None else None
            if part is None or listed is None:
                logger.warning("The model asked for the file %r, which does not exist.", name)
                continue
            part = await self._processed(tool_context, part, listed)
            if part is not None:
                parts = [types.Part(text=f"Artifact {name} is:"), part]
                llm_request.contents.append(types.Content(role="user", parts=parts))

    async def _processed(self, tool_context: ToolContext, part: types.Part, name: str) -> types.Part | None:
        if self._process_artifact is None:
            return _as_models_take_it(part)
        try:
            sync_calls = tool_context._invocation_context.sync_calls
            processed: types.Part | None = await call_bound(sync_calls, self._process_artifact, [part, name], {})
        except Exception:
            logger.exception("The file %r could not be processed, so the model does not get it.", name)
            return None
        return processed


def _asked_for(request: LlmRequest) -> list[str]:
    """Return the file names in the response at the end of the conversation."""
    parts = (request.contents[-1].parts if request.contents else None) or []
    responses = [part.function_response for part in parts if part.function_response]
    asked = [(response.response or {}).get("artifact_names") for response in responses if response.name == "load_artifacts"]
    return [name for names in asked if isinstance(names, list) for name in names if isinstance(name, str)]


def _as_models_take_it(part: types.Part) -> types.Part:
    """Return a part that every model accepts: text as text, and a description in place of unsupported bytes."""
    blob = part.inline_data
    if blob is None or blob.data is None:
        return part
    kind = kind_of_bytes(blob)
    if kind.startswith(_SHOWN_AS_THEY_ARE) and not is_text(kind):
        return part
    return types.Part(text=text_of(part))


load_artifacts_tool = LoadArtifactsTool()
