"""Names that only google-adk has: imported without an error, refused at their use."""

from __future__ import annotations

import copy
import importlib
import inspect
import typing
from pathlib import Path
from typing import Any, Optional

import pytest
from pydantic import BaseModel, ConfigDict

from inspector_app.engines.agent_loader import AgentLoadError, load_agent
from runtime.agents import LlmAgent
from runtime.apps.app import App
from runtime.border import is_stand_in, stand_in
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.tools.base_tool import BaseTool
from runtime.tools.function_tool import FunctionTool

Workflow: Any = importlib.import_module("runtime.workflow").Workflow


def _subclass() -> None:
    class Mine(Workflow):
        pass


def _mixed_subclass() -> None:
    class Mine(BaseTool, Workflow):
        pass


@pytest.mark.parametrize(
    "use",
    [
        lambda: Workflow(name="w", edges=[]),
        lambda: Workflow.from_config("x"),
        lambda: Workflow.SOME_CONSTANT,
        _subclass,
        _mixed_subclass,
        lambda: FunctionTool(Workflow),
        lambda: LlmAgent(name="a", model=Workflow),
        lambda: LlmAgent(name="a", tools=[len, Workflow]),
        lambda: LlmAgent(name="a", sub_agents=[Workflow]),
        lambda: App(name="a", root_agent=LlmAgent(name="a"), plugins=[Workflow]),
        lambda: importlib.import_module("runtime.a2a.converters").part_converter.convert("x"),
    ],
)
def test_a_use_says_what_it_needs(use: Any) -> None:
    with pytest.raises(EngineNeededError, match=r"^google\.adk\..* needs google-adk: install it in the agent's environment"):
        use()


def test_mentioning_a_name_is_no_use() -> None:
    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        held: Workflow | None = None

    def handed(one: Workflow, other: Optional[Workflow], many: "list[Workflow[int]]") -> type[Workflow]: ...  # type: ignore[empty-body]  # noqa: UP037, UP045

    assert typing.get_type_hints(handed, {"Workflow": Workflow, "Optional": Optional})["one"] is Workflow
    assert list(inspect.signature(handed).parameters) == ["one", "other", "many"]
    assert Holder().held is None
    assert not isinstance("x", Workflow)
    assert importlib.import_module("runtime.workflow").Workflow is Workflow
    assert copy.deepcopy([Workflow]) == [Workflow]
    assert not hasattr(Workflow, "__wrapped__")
    assert repr(Workflow) == "<class 'runtime.border.google.adk.workflow.Workflow'>"


def test_an_error_that_only_google_adk_raises_can_be_caught() -> None:
    error: Any = stand_in("google.adk.errors.tool_execution_error.ToolExecutionError")
    with pytest.raises(ZeroDivisionError):
        try:
            _ = 1 / 0
        except error:
            pytest.fail("it is no such error")


@pytest.mark.parametrize(
    "line",
    [
        "from google.adk.workflow import Workflow",
        "from google.adk import Workflow",
        "from google.adk import workflow",
        "import google.adk.workflow as w",
        "import google.adk.evaluation.simulation",
        "from google.adk.tools.openapi_tool.openapi_spec_parser import openapi_toolset",
        "from google.adk.tools import bigquery",
    ],
)
def test_an_agent_that_only_imports_a_name_is_loaded(line: str, tmp_path: Path) -> None:
    (tmp_path / "importer").mkdir()
    (tmp_path / "importer" / "agent.py").write_text(
        f"{line}\nfrom google.adk.agents import LlmAgent\nroot_agent = LlmAgent(name='importer')\n"
    )
    assert isinstance(load_agent(tmp_path / "importer").app.root_agent, LlmAgent)


def test_an_agent_that_uses_a_name_is_refused_with_the_sentence_and_the_place(tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "agent.py").write_text("from google.adk.workflow import Workflow\n\nroot_agent = Workflow(name='user')\n")
    with pytest.raises(AgentLoadError, match=r"Workflow needs google-adk \(agent\.py, line 3\): install it") as raised:
        load_agent(tmp_path / "user")
    assert raised.value.missing.endswith("google.adk.workflow.Workflow needs google-adk (agent.py, line 3).")


def test_a_misspelt_name_is_an_import_error() -> None:
    models = importlib.import_module("runtime.models")
    assert is_stand_in(models.FallbackModel)
    with pytest.raises(AttributeError, match="has no attribute 'FalbackModel'"):
        _ = models.FalbackModel
