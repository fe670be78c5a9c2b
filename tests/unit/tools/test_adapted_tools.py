"""Tools of LangChain and CrewAI. They need packages that are no dependencies: LangChain's tests skip without it."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Any

import pytest
from pydantic import BaseModel

from runtime.errors.missing_package_error import MissingPackageError
from tests.unit.tools.tool_contexts import tool_context


class Sum(BaseModel):
    """Two numbers."""

    a: int
    b: int = 2


@pytest.mark.parametrize("module", ["langchain_tool", "crewai_tool"])
def test_without_the_package_the_import_says_what_to_install(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = {"langchain_tool": "langchain_core.tools", "crewai_tool": "crewai"}[module]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"runtime.tools.{module}", raising=False)
    with pytest.raises(MissingPackageError, match="pip install"):
        importlib.import_module(f"runtime.tools.{module}")


@pytest.fixture
def crewai(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The adapter with a package of the name, as CrewAI itself takes minutes to install."""
    package = types.ModuleType("crewai")
    package.__spec__ = importlib.machinery.ModuleSpec("crewai", None)
    monkeypatch.setitem(sys.modules, "crewai", package)
    monkeypatch.delitem(sys.modules, "runtime.tools.crewai_tool", raising=False)
    return importlib.import_module("runtime.tools.crewai_tool")


class Adder:
    name = "Add Numbers"
    description = "Adds."
    args_schema = Sum

    def run(self, **kwargs: Any) -> int:
        return int(kwargs["a"] + kwargs.get("b", 2))


async def test_a_model_calls_a_tool_of_crewai(crewai: Any) -> None:
    tool = crewai.CrewaiTool(Adder(), name="", description="")
    declaration = tool._get_declaration()

    assert (declaration.name, declaration.description, declaration.parameters_json_schema["required"]) == ("add_numbers", "Adds.", ["a"])
    assert await tool.run_async(args={"a": 3, "self": "x", "tool_context": "y"}, tool_context=tool_context()) == 5
    assert "mandatory arguments are missing: a" in (await tool.run_async(args={}, tool_context=tool_context()))["error"]
    named = crewai.CrewaiTool(Adder(), name="plus", description="Plus.")
    assert (named.name, named.description) == ("plus", "Plus.")
    assert importlib.import_module("runtime.integrations.crewai").CrewaiTool.__name__ == "CrewaiTool"


def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


async def test_a_model_calls_tools_of_langchain() -> None:
    langchain = pytest.importorskip("langchain_core.tools")
    from_langchain = importlib.import_module("runtime.tools.langchain_tool").LangchainTool

    async def later(a: int, b: int = 2) -> int:
        return a + b

    structured = langchain.StructuredTool.from_function(add, name="adder", description="Adds.", args_schema=Sum)
    awaited = langchain.StructuredTool.from_function(coroutine=later, name="later", description="Adds.", args_schema=Sum)
    misplaced = langchain.StructuredTool.from_function(later, name="misplaced", description="Adds.", args_schema=Sum)
    for given in (structured, awaited, misplaced):
        tool = from_langchain(given)
        assert (tool.name, tool._get_declaration().parameters_json_schema["required"]) == (given.name, ["a"])
        assert await tool.run_async(args={"a": 3}, tool_context=tool_context()) == 5
        assert "does not fit" in (await tool.run_async(args={}, tool_context=tool_context()))["error"]
    final = langchain.StructuredTool.from_function(add, name="final", description="Adds.", args_schema=Sum, return_direct=True)
    contexts = [tool_context(), tool_context()]
    for context, args in zip(contexts, ({"a": 3}, {}), strict=True):
        await from_langchain(final).run_async(args=args, tool_context=context)
    assert [context.actions.skip_summarization for context in contexts] == [True, None]  # the model is asked again after an error
    simple = from_langchain(langchain.Tool(name="t", func=lambda text: text[::-1], description="Reverses."), name="mirror")
    assert simple._get_declaration().parameters_json_schema["required"] == ["tool_input"]
    assert (simple.name, await simple.run_async(args={"tool_input": "abc"}, tool_context=tool_context())) == ("mirror", "cba")
    with pytest.raises(ValueError, match="neither `run` nor `_run`"):
        from_langchain(object())
    assert importlib.import_module("runtime.integrations.langchain").LangchainTool.__name__ == "LangchainTool"
