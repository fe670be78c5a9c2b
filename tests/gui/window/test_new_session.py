"""*New session…* asks for the id, the user and the first state, and remembers the choice for each agent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.running.new_session_dialog import NewSessionDialog
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.interop.google_adk import adk_python

COUNTS = """
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions
from google.genai import types


class Counts(BaseAgent):
    async def _run_async_impl(self, ctx):
        for _ in range(2):
            actions = EventActions(state_delta={"count": ctx.session.state.get("count", 0) + 1})
            content = types.Content(role="model", parts=[types.Part(text="counted")])
            yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content, actions=actions)


root_agent = Counts(name="counts")
"""


@pytest.fixture(params=["embedded", "adk"])
def counts(request: pytest.FixtureRequest, inspector: Inspector, opened: Callable[..., None], tmp_path: Path) -> Inspector:
    """Return the window with an agent that counts in its state, on both engines."""
    folder = tmp_path / "counts"
    folder.mkdir()
    (folder / "agent.py").write_text(COUNTS)
    chosen = {"kind": request.param, **({"python": adk_python()} if request.param == "adk" else {})}
    inspector.settings.keep_engine(folder, chosen)
    trust_folder(inspector, folder)
    opened(folder)
    return inspector


class Asked:
    """The open dialog."""

    def __init__(self, inspector: Inspector, driver: WindowDriver) -> None:
        self._driver = driver
        inspector.window.commands.new_session_with.trigger()
        driver.run_until(lambda: inspector.window.findChildren(NewSessionDialog))
        (self.dialog,) = inspector.window.findChildren(NewSessionDialog)

    def line(self, name: str) -> QLineEdit:
        found = self.dialog.findChild(QLineEdit, name)
        assert found is not None
        return found

    def choose(self, start: str) -> None:
        box = self.dialog.findChild(QComboBox, "new_session_start")
        assert box is not None and box.findData(start) >= 0
        box.setCurrentIndex(box.findData(start))

    def chosen(self) -> str:
        box = self.dialog.findChild(QComboBox, "new_session_start")
        assert box is not None
        return str(box.currentData())

    def create(self) -> None:
        button = self.dialog.findChild(QPushButton, "new_session_create")
        assert button is not None
        button.click()

    def refused(self, field: str) -> str:
        """Create, wait for the sentence at a field, and return it."""
        self.create()
        label = self.dialog.findChild(QLabel, f"new_session_{field}_problem")
        assert label is not None
        self._driver.run_until(lambda: label.text())
        assert self.dialog.isVisible()
        return label.text()


def created(inspector: Inspector, driver: WindowDriver, asked: Asked) -> dict[str, object]:
    """Create the session, and return its first state."""
    before = inspector.cursor.session
    asked.create()
    driver.run_until(lambda: inspector.cursor.session != before and not inspector.window.findChildren(NewSessionDialog))
    driver.run_until_idle()
    address = inspector.cursor.session
    assert address is not None
    source = inspector.databases.source(address.database)
    assert source is not None
    read = inspector.tasks.spawn(source.service(), "Reading")
    driver.run_until(read.done)
    got = inspector.tasks.spawn(read.result().get_session(**address.key._asdict()), "Reading")
    driver.run_until(got.done)
    return dict(got.result().state)


def test_a_session_has_the_id_the_user_and_the_state_of_a_file(counts: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    (tmp_path / "first.json").write_text('\ufeff{"count": 40, "city": "Zürich"}', encoding="utf-8")
    asked = Asked(counts, driver)
    asked.line("new_session_id").setText("  mine ")
    asked.line("new_session_user").setText("anna")
    asked.choose("file")
    asked.line("new_session_file").setText(str(tmp_path / "first.json"))
    assert created(counts, driver, asked) == {"count": 40, "city": "Zürich"}
    address = counts.cursor.session
    assert address is not None and (address.key.session_id, address.key.user_id) == ("mine", "anna")
    driver.run_message("go")
    assert counts.cursor.session == address
    again = Asked(counts, driver)
    assert (again.line("new_session_user").text(), again.chosen(), again.line("new_session_id").text()) == ("anna", "file", "")
    assert again.line("new_session_file").text() == str(tmp_path / "first.json")
    again.choose("last")
    assert created(counts, driver, again) == {"count": 40, "city": "Zürich"}


def test_a_session_starts_as_another_was_at_an_event(counts: Inspector, driver: WindowDriver) -> None:
    driver.run_message("go")
    counts.cursor.select_event(1)
    asked = Asked(counts, driver)
    asked.choose("event")
    assert created(counts, driver, asked) == {"count": 1}
    asked = Asked(counts, driver)
    assert asked.chosen() == "empty", "no event is selected"
    assert created(counts, driver, asked) == {}


REFUSED = [
    ("id", "taken", "There is a session taken of this user: write another id, or leave the field empty."),
    ("id", "a\u202eb", "It has a character that cannot be displayed: remove it."),
    ("id", "x" * 129, "It has 129 characters; google-adk stores at most 128."),
    ("user", "a\u0007", "It has a character that cannot be displayed: remove it."),
    ("user", "u" * 200, "It has 200 characters; google-adk stores at most 128."),
    ("file", "", "Choose the file of the first state."),
    ("file", "gone.json", "gone.json cannot be read: No such file or directory."),
    ("file", "list.json", "list.json is not a state. It must be a JSON object: {…}."),
    ("file", "broken.json", "broken.json is not a state. Line 1, column 7: a comma or a closing bracket is expected here."),
    ("file", "nan.json", "nan.json is not a state. NaN is not a JSON number."),
    ("file", "bytes.json", "bytes.json is not a state: it is not UTF-8 text."),
    ("file", "~none/a.json", "~none/a.json cannot be read: No such file or directory."),
    ("file", ".", ". cannot be read: it is a folder, not a file."),
]


def test_what_cannot_be_used_is_refused_at_its_field(
    counts: Inspector, driver: WindowDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.json").write_text(json.dumps([1]))
    Path("broken.json").write_text('{"a":1')
    Path("nan.json").write_text('{"a": NaN}')
    Path("bytes.json").write_bytes(b'{"a": "\xff"}')
    asked = Asked(counts, driver)
    asked.line("new_session_id").setText("taken")
    created(counts, driver, asked)
    asked = Asked(counts, driver)
    for field, text, reason in REFUSED:
        asked.choose("file" if field == "file" else "empty")
        asked.line(f"new_session_{field}").setText(text)
        assert asked.refused(field) == reason
        assert asked.line(f"new_session_{field}").property("state") == "wrong"
        asked.line(f"new_session_{field}").setText("")
    asked.choose("empty")
    assert created(counts, driver, asked) == {}


def test_the_dialog_is_opened_and_answered_with_the_keyboard(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    assert orders.window.commands.new_session_with.shortcut().toString() == "Ctrl+N"
    asked = Asked(orders, driver)
    qtbot.keyClick(asked.line("new_session_id"), Qt.Key.Key_Return)
    driver.run_until(lambda: orders.cursor.session is not None)
    driver.run_until_idle()
    asked = Asked(orders, driver)
    qtbot.keyClick(asked.dialog, Qt.Key.Key_Escape)
    driver.run_until(lambda: not orders.window.findChildren(NewSessionDialog))


def test_the_session_stays_when_the_code_is_loaded_again(counts: Inspector, driver: WindowDriver) -> None:
    address = driver.run_message("go")
    file = Path(counts.agents.path) / "agent.py"
    file.write_text(file.read_text().replace('"counted"', '"counted again"'))
    counts.tasks.spawn(counts.agents.load_again(), "Loading")
    driver.run_until_idle()
    assert driver.run_message("go") == address
    session = counts.current.session
    assert session is not None and [event.author for event in session.events] == ["user", "counts", "counts"] * 2
