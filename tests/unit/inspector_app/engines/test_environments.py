"""Finding an agent's environment, with real environments made by venv."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
import venv
from pathlib import Path

import pytest

from inspector_app.engines.environments import EnvironmentNotFoundError, child_variables, find_environment

SECRET = "sk-not-to-be-shown"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "agents" / "planner"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text("root_agent = None\n")
    return folder


def make_venv(folder: Path, adk: str | None = "1.39.1", **options: bool) -> Path:
    venv.create(folder, symlinks=True, **options)
    if adk is not None:
        (site,) = folder.glob("lib/python3*/site-packages")
        info = site / f"google_adk-{adk}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: google-adk\nVersion: {adk}\n\nText\n")
    return folder


def test_the_environment_in_the_agents_folder_is_found(agent: Path) -> None:
    folder = make_venv(agent / ".venv", "2.13.0")
    decision = find_environment(agent, environ={})
    assert decision.source == ".venv"
    assert decision.environment.python == folder / "bin" / "python"
    assert decision.environment.python_version == ".".join(map(str, sys.version_info[:3]))
    assert decision.environment.adk_version == "2.13.0"
    assert decision.has_adk


def test_an_environment_above_the_agents_folder_is_found_for_a_file_too(agent: Path) -> None:
    folder = make_venv(agent.parent.parent / "venv")
    assert find_environment(agent / "agent.py", environ={}).environment.prefix == folder


def test_the_nearest_environment_wins(agent: Path) -> None:
    make_venv(agent.parent / ".venv", "1.25.0")
    make_venv(agent / ".venv", "1.39.1")
    assert find_environment(agent, environ={}).environment.adk_version == "1.39.1"


@pytest.mark.rule("N2")
@pytest.mark.parametrize("name", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environment_comes_first(agent: Path, tmp_path: Path, name: str) -> None:
    make_venv(agent / ".venv", "1.39.1")
    active = make_venv(tmp_path / "active", "2.13.0")
    decision = find_environment(agent, environ={name: str(active)})
    assert (decision.source, decision.environment.adk_version) == (name, "2.13.0")


def test_an_active_environment_without_google_adk_does_not_hide_the_agents_own(agent: Path, tmp_path: Path) -> None:
    make_venv(agent / ".venv", "1.39.1")
    active = make_venv(tmp_path / "active", None)
    decision = find_environment(agent, environ={"VIRTUAL_ENV": str(active)})
    assert decision.source == ".venv"
    assert "no google-adk" in decision.steps[0].found


def test_a_given_python_is_taken_in_any_case(agent: Path, tmp_path: Path) -> None:
    make_venv(agent / ".venv", "1.39.1")
    given = make_venv(tmp_path / "given", None)
    decision = find_environment(agent, python=str(given / "bin" / "python"), environ={})
    assert (decision.source, decision.has_adk) == ("--python", False)
    assert find_environment(agent, python=str(given), environ={}).environment.python == given / "bin" / "python"


def test_a_given_python_that_does_not_exist_is_an_error_with_its_name(agent: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotFoundError, match="There is no Python at ~/nowhere/python"):
        find_environment(agent, python="~/nowhere/python", environ={})
    with pytest.raises(EnvironmentNotFoundError, match="not executable"):
        find_environment(agent, python=str(agent / "agent.py"), environ={})
    with pytest.raises(EnvironmentNotFoundError, match="no Python in"):
        find_environment(agent, python=str(tmp_path), environ={})


def test_without_any_google_adk_the_inspectors_own_python_is_chosen(agent: Path) -> None:
    make_venv(agent / ".venv", None)
    decision = find_environment(agent, environ={})
    if decision.has_adk:
        pytest.skip("google-adk is installed beside the inspector")
    assert decision.environment.python == Path(sys.executable)
    assert decision.steps[0].source == ".venv"


def test_a_folder_that_is_no_environment_is_named_in_the_steps(agent: Path) -> None:
    (agent / "venv").mkdir()
    decision = find_environment(agent, environ={"VIRTUAL_ENV": str(agent / "deleted")})
    assert [step.found for step in decision.steps[:2]] == [f"{agent / 'deleted'} does not exist.", f"{agent / 'venv'} has no Python."]


def test_packages_of_the_base_python_count_only_where_the_environment_sees_them(agent: Path, tmp_path: Path) -> None:
    base = make_venv(tmp_path / "base", "1.39.1")
    for name, sees in (("sees", True), ("blind", False)):
        folder = make_venv(tmp_path / name, None, system_site_packages=sees)
        settings = (folder / "pyvenv.cfg").read_text().splitlines()
        lines = [f"home = {base / 'bin'}" if line.startswith("home") else line for line in settings]
        (folder / "pyvenv.cfg").write_text("\n".join(lines))
    assert find_environment(agent, python=str(tmp_path / "sees"), environ={}).environment.adk_version == "1.39.1"
    assert find_environment(agent, python=str(tmp_path / "blind"), environ={}).environment.adk_version is None


def test_uvs_environment_elsewhere_is_found(agent: Path) -> None:
    (agent.parent / "uv.lock").write_text("")
    make_venv(agent.parent / "build" / "env", "2.13.0")
    assert find_environment(agent, environ={"UV_PROJECT_ENVIRONMENT": "build/env"}).source == "uv"


def test_poetrys_environment_is_found_by_the_projects_name_and_folder(agent: Path, tmp_path: Path) -> None:
    project = agent.parent
    (project / "pyproject.toml").write_text('[tool.poetry]\nname = "My Planner"\n')
    digest = hashlib.sha256(os.path.normcase(project.resolve()).encode()).digest()
    name = f"my_planner-{base64.urlsafe_b64encode(digest).decode()[:8]}-py3.11"
    folder = make_venv(tmp_path / "poetry" / name, "1.39.1")
    decision = find_environment(agent, environ={"POETRY_VIRTUALENVS_PATH": str(tmp_path / "poetry")})
    assert (decision.source, decision.environment.prefix) == ("Poetry", folder)


@pytest.mark.parametrize(
    ("platform", "cache"),
    [("linux", ".cache/pypoetry"), ("darwin", "Library/Caches/pypoetry"), ("win32", "AppData/Local/pypoetry/Cache")],
)
def test_poetrys_environments_are_looked_for_where_each_system_keeps_them(
    agent: Path, tmp_path: Path, platform: str, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = agent.parent
    (project / "pyproject.toml").write_text('[tool.poetry]\nname = "planner"\n')
    digest = hashlib.sha256(os.path.normcase(project.resolve()).encode()).digest()
    name = f"planner-{base64.urlsafe_b64encode(digest).decode()[:8]}-py3.11"
    folder = make_venv(tmp_path / "home" / cache / "virtualenvs" / name, "1.39.1")
    monkeypatch.setattr(sys, "platform", platform)
    assert find_environment(agent, environ={"HOME": str(tmp_path / "home")}).environment.prefix == folder


def test_pdms_recorded_python_is_found(agent: Path, tmp_path: Path) -> None:
    folder = make_venv(tmp_path / "pdm", "1.39.1")
    (agent.parent / ".pdm-python").write_text(f"{folder}/bin/python\n")
    assert find_environment(agent, environ={}).source == "PDM"


def test_the_version_comes_from_the_metadata_and_from_the_newest_leftover(agent: Path) -> None:
    folder = make_venv(agent / ".venv", "1.9.0")
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "google_adk-1.25.0.dist-info").mkdir()  # without METADATA, as an interrupted upgrade leaves it
    assert find_environment(agent, environ={}).environment.adk_version == "1.25.0"


def test_the_names_of_the_nearest_env_file_are_shown_and_no_value(agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (agent.parent / ".env").write_text(f"export GOOGLE_API_KEY={SECRET}\n# NOT=1\nGOOGLE_GENAI_USE_VERTEXAI = 0\n")
    decision = find_environment(agent, environ={})
    assert decision.env_names == ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI")
    assert SECRET not in repr(decision) and SECRET not in "\n".join(decision.lines(""))
    (agent / ".env").write_bytes(b"\0")
    assert find_environment(agent, environ={}).env_names == ()
    monkeypatch.setenv("ADK_DISABLE_LOAD_DOTENV", "1")
    assert find_environment(agent, environ={}).env_file is None


def test_a_file_in_the_place_of_a_folder_harms_nothing(agent: Path) -> None:
    (agent / ".venv").write_text("name-of-an-environment\n")
    (agent / ".env").mkdir()
    (agent / "pyproject.toml").write_text("not [ toml")
    assert find_environment(agent, environ={}).env_file is None


def test_a_child_finds_the_programs_of_its_environment_first(agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_venv(agent / ".venv")
    environment = find_environment(agent, environ={}).environment
    given = {"PATH": f"/usr/bin{os.pathsep}{folder / 'bin'}", "VIRTUAL_ENV": str(tmp_path / "ours"), "PYTHONHOME": "/x", "OTHER": "1"}
    monkeypatch.setattr(os, "environ", given)
    variables = child_variables(environment)
    assert variables["PATH"] == f"{folder / 'bin'}{os.pathsep}/usr/bin"
    assert variables == {"PATH": variables["PATH"], "VIRTUAL_ENV": str(folder), "OTHER": "1"}
