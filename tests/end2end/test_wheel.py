"""The wheel outside the checkout: the console script runs and finds its resources."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent_folders import write_agent
from tests.end2end.processes import ROOT, environment


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel installed."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for package in ("runtime", "inspector_app", "resources"):
        shutil.copytree(ROOT / package, source / package)
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", source / "dist", source], check=True)
    (wheel,) = (source / "dist").iterdir()
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", target, wheel], check=True)
    return target


def run(installed: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    script = installed / "bin" / "agent-inspector"
    variables = {**environment(), "PYTHONPATH": str(installed), "HOME": str(cwd)}
    return subprocess.run([sys.executable, script, *arguments], cwd=cwd, env=variables, capture_output=True, text=True, timeout=60)


def test_the_wheel_installs_two_packages_and_no_other_name(installed: Path) -> None:
    """Python would find a top-level `resources` in place of the user's own."""
    names = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert names == {"runtime", "inspector_app", "bin", "share"}
    assert all((installed / package / "py.typed").exists() for package in ("runtime", "inspector_app"))


def test_the_wheel_contains_all_resources_and_nothing_else(installed: Path) -> None:
    def files(root: Path) -> set[str]:
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts}

    assert files(installed / "inspector_app" / "resources") == files(ROOT / "resources")
    assert {"story", "orders"} <= {path.name for path in (installed / "inspector_app" / "resources" / "samples").iterdir()}


def test_the_wheel_has_a_menu_entry_with_an_icon_of_each_size(installed: Path) -> None:
    share = installed / "share"
    entry = (share / "applications" / "agent-inspector.desktop").read_text()
    assert {"Exec=agent-inspector %F", "Icon=agent-inspector"} <= set(entry.splitlines())
    assert (share / "metainfo" / "io.github.agent_inspector.metainfo.xml").exists()
    for size in (16, 24, 32, 48, 64, 128, 256, 512):
        picture = (share / f"icons/hicolor/{size}x{size}/apps/agent-inspector.png").read_bytes()
        assert int.from_bytes(picture[16:20], "big") == size
    assert (share / "icons/hicolor/scalable/apps/agent-inspector.svg").exists()


def test_the_wheel_says_what_it_is_and_who_made_it(installed: Path, tmp_path: Path) -> None:
    (information,) = installed.glob("*.dist-info")
    lines = (information / "METADATA").read_text().splitlines()
    assert {"Author: The Agent Inspector authors", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"} <= set(lines)
    assert (information / "licenses" / "LICENSE").exists()
    (version,) = (line.removeprefix("Version: ") for line in lines if line.startswith("Version: "))
    assert run(installed, "--version", cwd=tmp_path).stdout == f"agent-inspector {version}\n"


def test_the_version_is_the_tag_of_the_commit(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(tmp_path)]
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tmp_path)
    for package in ("runtime", "inspector_app", "resources"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v7.8.9"]):
        subprocess.run([*git, *command], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path / "dist", tmp_path], check=True)
    assert [wheel.name.split("-")[1] for wheel in (tmp_path / "dist").iterdir()] == ["7.8.9"]


def test_the_installed_sample_runs(installed: Path, tmp_path: Path) -> None:
    done = run(
        installed, "run", str(installed / "inspector_app" / "resources" / "samples" / "orders"), "--message", "2 desk lamps", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "finished: order_desk reached its end" in done.stdout


def test_the_installed_window_uses_its_style(installed: Path, tmp_path: Path) -> None:
    story = str(installed / "inspector_app" / "resources" / "samples" / "story")
    done = run(installed, story, "--screenshot", "window.png", "--theme", "dark", "--size", "1100x760", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "window.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")) == (1100, 760)


def test_an_agent_imports_its_own_package_called_resources(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "__init__.py").write_text("NAME = 'mine'\n")
    agent = write_agent(
        tmp_path / "shop",
        "from resources import NAME\nfrom runtime.agents import LlmAgent\nfrom runtime.models import ScriptedLlm\n"
        "root_agent = LlmAgent(name=NAME, model=ScriptedLlm(replies=['done']))\n",
    )
    done = run(installed, "run", agent, "--message", "x", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mine  answer  done" in done.stdout
