"""Agents with a package named like one of this program's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import AgentLoadError, load_agent
from inspector_app.engines.child_engine import ChildEngine
from tests.agent_folders import write_agent

AGENT = "from runtime.agents import LlmAgent\nroot_agent = LlmAgent(name='helper')\n"


def with_package(place: Path, name: str) -> None:
    (place / name).mkdir()
    (place / name / "__init__.py").write_text("VERSION = 1\n")
    (place / name / "helpers.py").write_text("VALUE = 2\n")


@pytest.mark.parametrize("name", ["runtime", "inspector_app"])
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    "code", ["from {name}.helpers import VALUE", "from {name} import VERSION", "import {name}", "import {name}.helpers"]
)
def test_an_agent_that_imports_its_own_package_of_our_name_is_refused(tmp_path: Path, name: str, beside: bool, code: str) -> None:
    code = code.format(name=name)
    agent = write_agent(tmp_path / "shop", f"{code}\n{AGENT}")
    place = tmp_path if beside else tmp_path / "shop"
    with_package(place, name)
    with pytest.raises(AgentLoadError) as caught:
        load_agent(agent)
    assert f"imports {name}" in str(caught.value)
    assert "(agent.py, line 1)" in str(caught.value)
    assert str(place / name) in str(caught.value)
    assert "Rename" in str(caught.value)


async def test_it_is_refused_on_the_embedded_runtime_in_a_process_of_its_own_too(tmp_path: Path) -> None:
    write_agent(tmp_path / "shop", f"import runtime.helpers\n{AGENT}")
    with_package(tmp_path, "runtime")
    with pytest.raises(AgentLoadError, match="Rename"):
        await ChildEngine.start(sys.executable, tmp_path / "shop", lambda event, temp: None, embedded=True)


def test_a_module_in_another_file_is_found(tmp_path: Path) -> None:
    agent = write_agent(tmp_path / "shop", f"from . import tools\n{AGENT}")
    (tmp_path / "shop" / "tools.py").write_text("def later():\n    from runtime import helpers\n")
    with_package(tmp_path, "runtime")
    with pytest.raises(AgentLoadError, match=r"tools\.py, line 2"):
        load_agent(agent)


@pytest.mark.parametrize(
    "code", ["from .runtime.helpers import VALUE", "from clashing_shop.runtime import VERSION", "from runtime import Runner"]
)
def test_an_agent_that_imports_its_own_package_by_another_path_is_loaded(tmp_path: Path, code: str) -> None:
    agent = write_agent(tmp_path / "clashing_shop", f"{code}\n{AGENT}")
    with_package(tmp_path / "clashing_shop", "runtime")
    assert load_agent(agent).app.root_agent.name == "helper"


def test_a_folder_of_the_name_without_python_files_is_no_package(tmp_path: Path) -> None:
    agent = write_agent(tmp_path / "clashing_shop", f"import runtime\n{AGENT}")
    (tmp_path / "runtime").mkdir()
    assert load_agent(agent).app.root_agent.name == "helper"


def test_an_agent_in_a_folder_called_runtime_is_loaded(tmp_path: Path) -> None:
    assert load_agent(write_agent(tmp_path / "runtime", AGENT)).app.root_agent.name == "helper"
