"""The base class of tools that find texts for a query."""

from __future__ import annotations

from google.genai import types

from runtime.tools.base_tool import BaseTool


class BaseRetrievalTool(BaseTool):
    """A tool with one argument, `query`. A subclass writes `run_async`."""

    def _get_declaration(self) -> types.FunctionDeclaration:
        query = {"type": "string", "description": "The query to retrieve."}
        schema = {"type": "object", "properties": {"query": query}}
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)
