"""google-adk is installed for an agent whose environment lacks it, in the window, from a folder of wheels."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from inspector_app.engines.environments import environment_at
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, WEATHER
from tests.gui.window.trusting import trust_folder
from tests.interop.google_adk import adk_python
from tests.wheels import install_from, make_wheel

pytestmark = pytest.mark.usefixtures("prepared_pythons")

REFUSED = "from google.adk.code_executors import BuiltInCodeExecutor\nBuiltInCodeExecutor()\n"


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an agent's folder with a requirements.txt; the google-adk that can be installed links to the one of the tests."""
    theirs = environment_at(Path(adk_python()).parent.parent)
    assert theirs is not None and theirs.adk_version is not None
    ask = [theirs.python, "-c", "import sys, sysconfig; print(sys._base_executable); print(sysconfig.get_path('purelib'))"]
    base, packages = subprocess.run(ask, capture_output=True, text=True, check=True).stdout.splitlines()
    monkeypatch.setattr(sys, "_base_executable", base)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not list(Path(entry).glob("google_adk-*"))])
    wheels = tmp_path / "wheels"
    install_from(wheels, monkeypatch)
    make_wheel(wheels, "google-adk", theirs.adk_version, {"theirs.pth": packages})
    make_wheel(wheels, "sqlalchemy", "2.0.1", {}, "Provides-Extra: asyncio")
    folder = Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))
    (folder / "requirements.txt").write_text(f"google-adk=={theirs.adk_version}\n")
    return folder


def click(driver: WindowDriver, name: str) -> None:
    (button,) = (button for button in driver.inspector.window.findChildren(QPushButton, name) if button.isVisible())
    driver.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def text(driver: WindowDriver) -> str:
    label = driver.inspector.window.parts.install.findChild(QLabel, "install_text")
    return label.text()


def log(driver: WindowDriver) -> str:
    return driver.inspector.window.parts.install.findChild(QPlainTextEdit, "install_log").toPlainText()


def ask(driver: WindowDriver, folder: Path) -> None:
    """Open an agent that is not trusted, and choose its installation on the page that asks for trust."""
    window = driver.inspector.window
    driver.inspector.features.opening.opening.open_path(str(folder))
    driver.run_until(lambda: window.page is window.parts.trust)
    click(driver, "trust_install")
    driver.run_until(lambda: window.page is window.parts.install)


def test_from_a_folder_with_requirements_to_an_answer_on_google_adk(driver: WindowDriver, steps: Path) -> None:
    ask(driver, steps)
    assert not (steps / ".venv").exists()
    assert f"This makes the environment {steps / '.venv'} and installs google-adk and what" in text(driver)
    assert "Installers run code of the packages" in text(driver)
    assert log(driver).splitlines()[-3:] == ["", "requirements.txt:", (steps / "requirements.txt").read_text().strip()]
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=120_000):
        click(driver, "install_accept")
    driver.run_until_idle()
    assert driver.inspector.window.status.text("engine").endswith(f"google-adk {(steps / 'requirements.txt').read_text().strip()[12:]}")
    assert "Successfully installed google-adk" in log(driver)
    assert f"was installed into {steps / '.venv'}." in driver.log_text()
    driver.run_message(WEATHER)
    assert driver.stream.rows()[-2:] == ["It is blue.", "end of steps"]


def test_a_refused_name_offers_the_installation_and_cancel_leaves_nothing(driver: WindowDriver, steps: Path) -> None:
    (steps / "agent.py").write_text(REFUSED)
    before = sorted(steps.iterdir())
    trust_folder(driver.inspector, steps)
    window = driver.inspector.window
    driver.inspector.features.opening.opening.open_path(str(steps))
    driver.run_until(lambda: window.page is window.parts.problem)
    assert window.parts.problem.install.property("primary"), "a retry would fail again"
    click(driver, "problem_install")
    driver.run_until(lambda: window.page is window.parts.install)
    click(driver, "install_accept")
    driver.run_until(lambda: "$ " in log(driver))
    assert (steps / ".venv").exists()
    click(driver, "install_cancel")
    driver.run_until_idle()
    assert text(driver) == "The installation was cancelled. Nothing was left behind."
    assert sorted(steps.iterdir()) == before
    click(driver, "install_decline")
    assert window.page is window.parts.problem


def test_a_closed_window_ends_the_installation(driver: WindowDriver, steps: Path) -> None:
    before = sorted(steps.iterdir())
    ask(driver, steps)
    click(driver, "install_accept")
    driver.run_until(lambda: "$ " in log(driver))
    for task in driver.inspector.tasks.running:
        task.cancel()  # as closing does
    driver.run_until_idle()
    assert sorted(steps.iterdir()) == before


def test_an_installation_that_is_declined_loads_the_agent_without_it(driver: WindowDriver, steps: Path) -> None:
    (steps / "agent.py").write_text(
        "from google.adk.agents import LlmAgent\nroot_agent = LlmAgent(name='clerk', model='gemini-2.5-flash')\n"
    )
    ask(driver, steps)
    click(driver, "install_decline")
    driver.run_until_idle()
    assert driver.inspector.window.status.text("engine") == "steps · embedded runtime"


def test_a_failed_installation_says_why_and_can_be_repeated(driver: WindowDriver, steps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "_base_executable", "/bin/false")
    ask(driver, steps)
    click(driver, "install_accept")
    driver.run_until(lambda: "left behind" in text(driver), 60_000)
    assert text(driver).startswith("The installer failed with exit status 1")
    (steps / "requirements.txt").write_text("google-adk\n")
    click(driver, "install_accept")
    driver.run_until_idle()
    assert "has changed meanwhile" in text(driver)


def test_why_it_cannot_be_installed_is_shown(driver: WindowDriver, steps: Path) -> None:
    (steps / ".venv").mkdir()
    ask(driver, steps)
    assert "exists, and has no Python" in text(driver)
    assert not driver.inspector.window.parts.install.findChild(QPushButton, "install_accept").isVisible()


MISSPELLED = "from google.adk.agents import LlmAgnet\n"


@pytest.mark.parametrize("code", ["import nowhere_to_be_found\n", REFUSED, "1 / 0\n", MISSPELLED])
def test_only_what_an_installation_can_mend_offers_one(code: str, driver: WindowDriver, steps: Path) -> None:
    (steps / "agent.py").write_text(code)
    trust_folder(driver.inspector, steps)
    driver.inspector.features.opening.opening.open_path(str(steps))
    driver.run_until_idle()
    assert driver.inspector.window.parts.problem.install.isVisible() == (code not in ("1 / 0\n", MISSPELLED))


def test_a_trusted_agent_for_the_embedded_runtime_is_offered_nothing(driver: WindowDriver, steps: Path) -> None:
    ours = steps.parent / "ours"
    ours.mkdir()
    (ours / "agent.py").write_text("import runtime\nimport nowhere_to_be_found\n")
    driver.inspector.features.opening.opening.open_path(str(ours))
    window = driver.inspector.window
    driver.run_until(lambda: window.page is window.parts.trust)
    assert not window.parts.trust.findChild(QPushButton, "trust_install").isVisible()
    click(driver, "trust_accept")
    driver.run_until_idle()
    assert not window.parts.problem.install.isVisible()
