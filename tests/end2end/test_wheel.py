"""The wheel outside the checkout: the console script runs and finds its resources."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end2end.processes import ROOT, environment


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel installed."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for package in ("runtime", "inspector_app", "resources"):
        shutil.copytree(ROOT / package, source / package)
    for file in ("pyproject.toml", "README.md"):
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


def test_the_wheel_contains_all_resources_and_nothing_else(installed: Path) -> None:
    def files(root: Path) -> set[str]:
        return {
            str(path.relative_to(root)) for path in (root / "resources").rglob("*") if path.is_file() and "__pycache__" not in path.parts
        }

    assert files(installed) == files(ROOT)
    assert {"story", "orders"} <= {path.name for path in (installed / "resources" / "samples").iterdir()}


def test_the_installed_sample_runs(installed: Path, tmp_path: Path) -> None:
    done = run(installed, "run", str(installed / "resources" / "samples" / "orders"), "--message", "2 desk lamps", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "finished: order_desk reached its end" in done.stdout


def test_the_installed_window_uses_its_style(installed: Path, tmp_path: Path) -> None:
    story = str(installed / "resources" / "samples" / "story")
    done = run(installed, story, "--screenshot", "window.png", "--theme", "dark", "--size", "1100x760", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    picture = (tmp_path / "window.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert (int.from_bytes(picture[16:20], "big"), int.from_bytes(picture[20:24], "big")) == (1100, 760)
