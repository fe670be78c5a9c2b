"""`--screenshot` without a display, in processes of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.gui.window.window_processes import complaints

ROOT = Path(__file__).resolve().parents[3]


def inspector(tmp_path: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    command = [sys.executable, "-X", "dev", "-m", "inspector_app", *map(str, arguments)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=200, cwd=tmp_path)


@pytest.mark.parametrize(("theme", "darkest"), [("dark", True), ("light", False)])
def test_a_screenshot_has_the_requested_size_and_theme(story_db: Path, tmp_path: Path, theme: str, darkest: bool) -> None:
    out = tmp_path / "out.png"
    done = inspector(tmp_path, story_db, "--screenshot", out, "--theme", theme, "--size", "1280x800")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1280, 800)
    assert (image.pixelColor(3, 3).lightness() < 128) is darkest


def test_a_screenshot_does_not_load_an_untrusted_agent(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "agent.py").write_text("from pathlib import Path\nPath('it-ran').touch()\n")
    done = inspector(tmp_path, tmp_path / "agent", "--screenshot", tmp_path / "out.png")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    image = QImage(str(tmp_path / "out.png"))
    # The default size, independent of the screen.
    assert (image.width(), image.height()) == (1400, 860)
    assert not (tmp_path / "it-ran").exists()


def test_the_start_page_opens_without_paths(tmp_path: Path) -> None:
    done = inspector(tmp_path, "--screenshot", tmp_path / "out.png")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    assert (tmp_path / "out.png").exists()


def test_a_bad_path_is_reported_and_the_screenshot_written(tmp_path: Path) -> None:
    done = inspector(tmp_path, tmp_path / "gone.db", "--screenshot", tmp_path / "out.png")
    assert done.returncode == 1
    assert len(complaints(done.stderr)) == 1 and "gone.db" in complaints(done.stderr)[0]
    assert (tmp_path / "out.png").exists()


def test_a_screenshot_that_cannot_be_written_is_an_error(story_db: Path, tmp_path: Path) -> None:
    done = inspector(tmp_path, story_db, "--screenshot", tmp_path / "no" / "such" / "folder.png")
    assert done.returncode == 1
    assert "could not be written" in complaints(done.stderr)[0]


def test_a_picture_shows_a_file_of_traces_or_says_why_not(tmp_path: Path) -> None:
    traces = ROOT / "tests" / "data" / "otlp" / "traces.jsonl"
    done = inspector(tmp_path, "--otlp", traces, "--screenshot", tmp_path / "out.png")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    (tmp_path / "none.jsonl").write_text("no trace\n", "utf-8")
    done = inspector(tmp_path, "--otlp", tmp_path / "none.jsonl", "--screenshot", tmp_path / "out.png")
    assert (done.returncode, len(complaints(done.stderr))) == (1, 1)
    assert f"Nothing of {tmp_path / 'none.jsonl'} can be shown: it has no traces." in done.stderr
    database = shutil.copy(traces.with_name("traced.db"), tmp_path)
    done = inspector(tmp_path, database, "--otlp", traces, "--screenshot", tmp_path / "out.png")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    done = inspector(tmp_path, "--otlp", "127.0.0.1:0", "--screenshot", tmp_path / "out.png")
    assert done.returncode == 2 and "No traces arrive while a picture is saved." in done.stderr
