"""A project as `adk create` makes it, opened and asked by a user who has read nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from tests.gemini_server import Answer, GeminiServer, chunk, gemini_server
from tests.gui.window.driver import WindowDriver
from tests.interop.google_adk import adk_python


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with gemini_server(Answer([chunk({"text": "Hello, "}), chunk({"text": "Ana."}, finish="STOP")])) as started:
        yield started


@pytest.fixture
def created(tmp_path: Path, server: GeminiServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that `adk create` has made below a `.venv` with google-adk; its model is the local server."""
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".venv").symlink_to(Path(adk_python()).parent.parent)
    command = [adk_python(), "-W", "ignore", "-m", "google.adk.cli", "create", "--model", "gemini-2.5-flash", "--api_key", "key", "hello"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "hello" / ".env").open("a") as env:
        env.write(f"\nGOOGLE_GEMINI_BASE_URL={server.url}\n")
    return tmp_path / "hello"


def test_the_first_answer_of_a_created_project(driver: WindowDriver, created: Path, server: GeminiServer) -> None:
    with driver.qtbot.waitSignal(driver.inspector.agents.trust_requested):
        driver.inspector.features.opening.opening.open_path(str(created))
    assert "with google-adk 2.13.0" in driver.inspector.window.findChild(QLabel, "trust_engine").text()
    accept = driver.inspector.window.findChild(QPushButton, "trust_accept")
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        driver.qtbot.mouseClick(accept, Qt.MouseButton.LeftButton)
    driver.run_until_idle()
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=60_000) as ended:
        driver.composer.send("I am Ana.")
    driver.run_until_idle()
    assert ended.args[0].error is None
    assert driver.stream.rows()[-2:] == ["I am Ana.", "Hello, Ana."]
    assert server.requests[0].headers["x-goog-api-key"] == "key"
