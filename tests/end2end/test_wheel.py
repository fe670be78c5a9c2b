"""The wheel outside the checkout: the console script runs and finds its resources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
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


def test_a_release_has_the_version_of_its_tag_and_the_urls_of_its_repository(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(tmp_path)]
    for file in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tmp_path)
    for package in ("runtime", "inspector_app", "resources"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v7.8.9"]):
        subprocess.run([*git, *command], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    variables = {**os.environ, "AGENT_INSPECTOR_REPOSITORY": "https://example.org/inspector"}
    wheel = [*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path / "dist", tmp_path]
    subprocess.run(wheel, check=True, env=variables)
    (made,) = (tmp_path / "dist").iterdir()
    assert made.name.split("-")[1] == "7.8.9"
    with zipfile.ZipFile(made) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    assert [line.removeprefix("Project-URL: ") for line in metadata.splitlines() if line.startswith("Project-URL: ")] == [
        "Source, https://example.org/inspector",
        "Issues, https://example.org/inspector/issues",
        "Changelog, https://example.org/inspector/blob/HEAD/CHANGELOG.md",
    ]


@pytest.mark.parametrize(
    ("origin", "url"),
    [
        ("git@example.org:a/inspector.git", "https://example.org/a/inspector"),
        ("https://me:secret@example.org/a/inspector.git", "https://example.org/a/inspector"),
        ("/srv/inspector.git", ""),
        (None, ""),
    ],
)
def test_the_repository_of_a_release_is_the_one_it_was_cloned_from(tmp_path: Path, origin: str | None, url: str) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    if origin is not None:
        subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", origin], check=True)
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    make = ["make", "-s", "-C", tmp_path, "--eval", "where: ; @echo '$(REPOSITORY)'", "where"]
    assert subprocess.run(make, check=True, env=variables, capture_output=True, text=True).stdout == f"{url}\n"


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
