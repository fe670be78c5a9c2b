from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QFontMetrics, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPlainTextEdit, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.detail.card import Card
from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.prose import Prose
from inspector_app.widgets import theme
from inspector_app.widgets.safe_browser import SafeBrowser
from inspector_app.widgets.text_dialog import TextDialog
from runtime.events import Event, EventActions
from runtime.events.event_actions import EventCompaction
from runtime.history.scoped_state import ScopedState
from runtime.sessions.note import Note
from runtime.sessions.state import Change
from runtime.tools.tool_confirmation import ToolConfirmation
from tests.gui.events import said

EVENT, STATE, REQUEST, JSON = range(4)


@pytest.fixture
def detail(qtbot) -> EventDetail:
    made = EventDetail()
    qtbot.addWidget(made)
    made.resize(420, 600)
    made.show()
    return made


def call_event() -> Event:
    call = types.FunctionCall(id="c", name="pay", args={"amount": 154.56, "to": {"name": "maria"}})
    return Event(author="order_desk", invocation_id="e-1", content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def drawn(detail: EventDetail) -> list[str]:
    """Return the titles of the visible cards, from top to bottom."""
    cards = [card for card in detail.cards.findChildren(Card) if card.isVisible()]
    return [card.title for card in sorted(cards, key=lambda card: card.y())]


def shown_dialog(widget) -> TextDialog:
    (dialog,) = [child for child in widget.findChildren(TextDialog) if child.isVisible()]
    return dialog


def test_the_delta_gives_more_width_to_the_longer_side(detail: EventDetail) -> None:
    table = detail.delta.table
    detail.show_event(0, said("x"))
    shown = {
        ("added", None, "after " * 40): lambda: table.columnWidth(2) > 2 * table.columnWidth(1),
        ("removed", "before " * 40, None): lambda: table.columnWidth(1) > 2 * table.columnWidth(2),
        ("changed", "before " * 40, "after " * 40): lambda: abs(table.columnWidth(1) - table.columnWidth(2)) <= 2,
    }
    for (kind, before, after), fits in shown.items():
        detail.set_state(ScopedState(), [Change("text", before, after, kind)])
        widths = [table.columnWidth(column) for column in range(3)]
        assert fits(), (kind, widths)
        assert table.viewport().width() - 2 <= sum(widths) <= table.viewport().width()


class Layouts(QObject):
    """Counts how often what is around a widget is laid out."""

    def __init__(self, around: QWidget) -> None:
        super().__init__(around)
        self.count = 0
        around.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def lay_out() -> None:
    for _ in range(5):  # nested layouts are updated one event-loop turn after the other
        QApplication.processEvents()


def test_another_event_lays_out_nothing_around_the_detail(qtbot: QtBot, detail: EventDetail) -> None:
    for event in (call_event(), said("x")):  # the first one lays out what was never visible
        detail.show_event(8, event)
        detail.show_note(None, is_possible=True)
        lay_out()
    layouts = Layouts(detail)
    detail.show_event(1_234_567, call_event())
    detail.show_note(None, is_possible=True)
    lay_out()
    assert "event 1,234,568" in detail.findChild(QLabel, "event_facts").text()
    assert layouts.count == 0
    detail.show_note(Note(is_bookmark=True), is_possible=True)
    lay_out()
    assert layouts.count > 0


def test_the_empty_state_shows_what_to_do(detail: EventDetail) -> None:
    assert not detail.tabs.isVisible()
    detail.clear("The session has no events", "Send a message.")
    assert detail._empty.text == ("The session has no events", "Send a message.")
    detail.show_event(0, said("x"))
    assert detail.tabs.isVisible()


def test_the_title_shows_number_author_and_kind(detail: EventDetail) -> None:
    detail.show_event(141, call_event())
    assert detail.findChild(QLabel, "event_detail_title").text() == "order_desk · tool call"
    assert detail.findChild(QLabel, "event_facts").text().startswith("event 142 · ")


def test_state_and_delta_of_the_event(detail: EventDetail) -> None:
    detail.show_event(2, said("x"))
    changes = [Change("total", 1, 2, "changed")]
    detail.set_state(ScopedState(session={"total": 2}), changes)
    assert detail.state.model.headerData(0, Qt.Orientation.Horizontal) == "State at 3"
    assert detail.delta.table.isVisible()
    detail.set_state(ScopedState(session={"total": 2}), [])
    assert not detail.delta.table.isVisible()
    detail.set_state(None, [])
    assert not detail.state.tree.isVisible()


def test_only_the_current_tab_is_filled(detail: EventDetail) -> None:
    first, second = said("first"), said("second")
    detail.show_event(0, first)
    assert detail.json.text == ""
    detail.tabs.setCurrentIndex(JSON)
    assert json.loads(detail.json.text)["id"] == first.id
    detail.show_event(1, second)
    assert json.loads(detail.json.text)["id"] == second.id
    detail.tabs.setCurrentIndex(EVENT)
    assert detail.cards.browser.toPlainText() == "second"


def test_calls_are_shown_as_fields_and_on_request_as_a_tree(detail: EventDetail) -> None:
    detail.show_event(0, call_event())
    cards = detail.cards
    assert cards.calls.title == "Call pay"
    assert cards.calls.findChild(Prose).toPlainText().split() == ["amount", "154.56", "to", "name", "maria"]
    assert cards.said.isHidden() and cards.values.isHidden()
    detail.findChild(QToolButton, "calls_as_json").click()
    assert cards.calls.isHidden() and cards.tree.isVisible()
    model = cards.model
    assert model.index(0, 0).data() == "call pay"
    assert [node.key for node in model.node(model.index(0, 0)).children] == ["amount", "to"]
    detail.findChild(QToolButton, "values_as_fields").click()
    assert cards.values.isHidden() and cards.calls.isVisible()


def test_an_interim_answer_is_no_failure(detail: EventDetail) -> None:
    asked = types.FunctionResponse(
        id="c", name="pay", response={"error": "This tool call requires confirmation, please approve or reject."}
    )
    confirmation = EventActions(requested_tool_confirmations={"c": ToolConfirmation(hint="Pay?")})
    content = types.Content(role="user", parts=[types.Part(function_response=asked)])
    detail.show_event(0, Event(author="a", invocation_id="e", content=content, actions=confirmation))
    assert detail.cards.calls.title == "pay waits for an answer"
    detail.show_event(0, Event(author="a", invocation_id="e", content=content))
    assert "pay failed" in detail.cards.calls.findChild(Prose).toPlainText()


def test_a_text_is_shown_as_markdown_and_copied_as_it_is(detail: EventDetail) -> None:
    detail.show_event(1, said("# Title\n\nsome *text*"))
    assert detail.cards.browser.toPlainText() == "Title\nsome text"
    assert detail.cards.calls.isHidden()
    detail.findChild(QToolButton, "copy_content").click()
    assert QGuiApplication.clipboard().text() == "# Title\n\nsome *text*"


def test_what_an_event_does_not_have_is_not_drawn(detail: EventDetail) -> None:
    detail.show_event(0, Event(author="a", invocation_id="e", actions=EventActions(state_delta={"k": 1})))
    detail.set_state(ScopedState(session={"k": 1}), [Change("k", None, 1, "added")])
    assert drawn(detail) == ["Changed 1 key"]
    detail.show_event(1, said("Done."))
    detail.set_state(ScopedState(session={"k": 1}), [])
    assert drawn(detail) == ["Answer"]
    detail.show_event(2, Event(author="a", invocation_id="e"))
    detail.set_state(ScopedState(session={"k": 1}), [])
    assert drawn(detail) == [] and detail.findChild(Prose, "event_empty").isVisible(), "nothing is an empty page"


def test_a_key_that_kept_its_value_is_not_called_changed(detail: EventDetail) -> None:
    kept, new = Change("kept", [1], [1], "changed"), Change("new", None, 1, "added")
    detail.show_event(0, said("x"))
    for changes, title in (
        ([kept], "Wrote 1 key with the value it had"),
        ([new, kept], "Changed 1 key, wrote 1 key with the value it had"),
    ):
        detail.set_state(ScopedState(session={"kept": [1], "new": 1}), changes)
        assert drawn(detail)[1] == title


def event_of(*parts: types.Part, author: str = "desk", **more: Any) -> Event:
    return Event(author=author, content=types.Content(parts=list(parts)) if parts else None, **more)


SUMMARY = EventCompaction(start_timestamp=1, end_timestamp=2, compacted_content=types.Content(parts=[types.Part(text="They paid.")]))
ANSWER = types.Part(function_response=types.FunctionResponse(id="c", name="ask", response={"result": "yes"}))
FAILURE = types.Part(function_response=types.FunctionResponse(id="c", name="pay", response={"error": "no money"}))
FILE = types.Part(file_data=types.FileData(file_uri="gs://bucket/a.png", mime_type="image/png"))


@pytest.mark.parametrize(
    ("event", "titles", "words"),
    [
        (event_of(types.Part(text="Hello"), author="user"), ["Message"], ["Hello"]),
        (event_of(ANSWER, author="user"), ["Result of ask"], ["yes"]),
        (event_of(FAILURE), ["1 result"], ["pay failed", "error", "no money"]),
        (event_of(ANSWER, FAILURE), ["2 results"], ["Result of ask", "pay failed"]),
        (event_of(FILE), ["File image/png"], ["gs://bucket/a.png"]),
        (event_of(actions=EventActions(compaction=SUMMARY)), ["Summary"], ["They paid."]),
        (event_of(output_transcription=types.Transcription(text="I heard you.")), ["Transcript"], ["I heard you."]),
        (event_of(types.Part(text="Go."), actions=EventActions(transfer_to_agent="clerk")), ["Answer", "More"], ["transfer to", "clerk"]),
        (event_of(actions=EventActions(escalate=True)), ["More"], ["escalate", "true"]),
        (event_of(actions=EventActions(rewind_before_invocation_id="e-7")), ["More"], ["rewind before", "e-7"]),
        (event_of(actions=EventActions(artifact_delta={"a.txt": 0})), ["Files"], []),
        (
            event_of(actions=EventActions(artifact_delta={f"{n}.txt": n for n in range(20)})),
            ["Files", "More"],
            ["saved artifacts", "19.txt"],
        ),
        (event_of(custom_metadata={"trace": "abc"}), ["More"], ["trace", "abc"]),
        (event_of(error_code="SAFETY"), ["Error"], ["SAFETY"]),
        (event_of(types.Part(text="a\u202eb <b>")), ["Answer"], ["a⟨U+202E⟩b <b>"]),
        (event_of(types.Part(function_call=types.FunctionCall(id="c", name="go", args={"<b>": "<i>x"}))), ["Call go"], ["<b>", "<i>x"]),
    ],
)
def test_each_event_has_the_cards_of_what_it_holds(detail: EventDetail, event: Event, titles: list[str], words: list[str]) -> None:
    detail.show_event(0, event)
    assert drawn(detail) == titles
    shown = "\n".join(prose.toPlainText() for prose in detail.cards.findChildren(Prose) if prose.isVisible())
    assert [word for word in words if word not in shown] == []
    assert not detail.findChild(Prose, "event_empty").isVisible()


def test_thought_answer_and_error_are_shown_separately(detail: EventDetail) -> None:
    parts = [types.Part(text="hmm\nwell", thought=True), types.Part(text="Yes.")]
    detail.show_event(0, Event(author="a", content=types.Content(parts=parts), error_code="MAX_TOKENS", error_message="cut off"))
    assert drawn(detail) == ["Error", "Thought: hmm well", "Answer"]
    assert detail.cards.browser.toPlainText() == "Yes."
    assert detail.cards.error.findChild(Prose).toPlainText() == "MAX_TOKENS\ncut off"
    thought = detail.findChild(Prose, "thought_text")
    assert thought.isHidden()
    detail.findChild(QToolButton, "thought_fold").click()
    assert thought.isVisible() and thought.toPlainText().split() == ["hmm", "well"]


def test_no_resource_in_a_text_is_loaded(qtbot, tmp_path: Path) -> None:
    tall = QImage(10, 900, QImage.Format.Format_RGB32)
    tall.fill(0xFF00FF)
    path = tmp_path / "tall.png"
    assert tall.save(str(path))
    browser = SafeBrowser()
    qtbot.addWidget(browser)
    browser.resize(400, 300)
    browser.show()
    for text in (f"![x](file://{path})", f"![x]({path})", f'<img src="{path}">', f"<style>@import url({path})</style>"):
        browser.set_markdown(f"seen {text}")
        QApplication.processEvents()
        browser.grab()
        assert "seen" in browser.toPlainText()
        assert browser.document().size().height() < 200, text


def test_links_open_only_after_confirmation_and_only_web_links(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    browser = SafeBrowser()
    qtbot.addWidget(browser)
    browser.show()

    def ask(address: str) -> QMessageBox:
        browser.anchorClicked.emit(QUrl(address))
        (box,) = [child for child in browser.findChildren(QMessageBox) if child.isVisible()]
        return box

    box = ask("https://example.invalid/a")
    assert box.informativeText() == "https://example.invalid/a"
    assert opened == []
    {button.text(): button for button in box.buttons()}["Open in browser"].click()
    assert opened == ["https://example.invalid/a"]
    box = ask("file:///etc/passwd")
    assert "Open in browser" not in [button.text() for button in box.buttons()]
    {button.text(): button for button in box.buttons()}["Copy link"].click()
    assert QGuiApplication.clipboard().text() == "file:///etc/passwd"
    assert len(opened) == 1


def test_long_json_is_cut_but_copied_and_opened_in_full(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(JSON)
    words = "y" * 1_000_000
    event = said(words)
    detail.show_event(0, event)
    assert len(detail.json.text) < 20_000
    assert "more characters)" in detail.json.text
    detail.findChild(QPushButton, "copy_json").click()
    assert json.loads(QGuiApplication.clipboard().text())["content"]["parts"][0]["text"] == words
    detail.findChild(QPushButton, "open_full_json").click()
    dialog = shown_dialog(detail)
    lines = dialog.findChild(QPlainTextEdit, "full_text").toPlainText().split("\n")
    assert max(map(len, lines)) <= 1000
    assert sum(line.count("y") for line in lines) >= len(words)
    dialog.findChild(QPushButton, "close_full_text").click()
    assert not dialog.isVisible()


def test_short_json_is_shown_in_full(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(JSON)
    event = call_event()
    detail.show_event(0, event)
    assert json.loads(detail.json.text) == json.loads(event.model_dump_json(exclude_none=True))
    assert not detail.findChild(QPushButton, "open_full_json").isVisible()


def test_a_long_text_is_cut_until_it_is_opened(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(EVENT)
    detail.show_event(0, said("word " * 100_000))
    assert len(detail.cards.browser.toPlainText()) < 20_000
    detail.findChild(QToolButton, "open_full_content").click()
    assert len(shown_dialog(detail).findChild(QPlainTextEdit, "full_text").toPlainText()) > 400_000


def test_a_long_text_states_its_shown_length_and_breaks_between_words_in_full(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(EVENT)
    detail.show_event(0, said("lorem ipsum " * 10_000))
    part = detail.findChild(QLabel, "answer_aside")
    assert part.text() == "16,000 of 120,000 characters"
    detail.findChild(QToolButton, "open_full_content").click()
    lines = shown_dialog(detail).findChild(QPlainTextEdit, "full_text").toPlainText().split("\n")
    assert max(map(len, lines)) < 100 and all(line.startswith("lorem ") for line in lines if line)
    detail.show_event(0, said("short"))
    assert part.text() == ""


@pytest.mark.parametrize("text", ["- item\n" * 2_000, "|a|b|\n|-|-|\n" + "|x|y|\n" * 2_000, "# h\n" * 3_000, "```\n" + "x = 1\n" * 2_000])
def test_a_text_of_very_many_lines_is_cut_before_it_takes_long(detail: EventDetail, text: str) -> None:
    detail.show_event(0, said(text))
    assert detail.cards.browser.document().blockCount() <= 700
    assert detail.findChild(QLabel, "answer_aside").text().endswith(f" of {len(text):,} characters")
    detail.show_event(1, said("line\n" * 300))
    assert detail.findChild(QLabel, "answer_aside").text() == ""


def test_code_is_shown_verbatim(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(EVENT)
    code = types.ExecutableCode(code="for n in range(3):\n    print(n)", language=types.Language.PYTHON)
    event = said("Let me count.")
    event.content.parts.append(types.Part(executable_code=code))
    detail.show_event(0, event)
    lines = detail.cards.code.findChild(Prose).toPlainText().replace("\xa0", " ").split("\n")
    assert lines == ["for n in range(3):", "    print(n)"], "code lines, not a quoted string"
    assert drawn(detail) == ["Answer", "Code"]


def test_long_lines_of_json_are_wrapped(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(JSON)
    detail.show_event(0, said("word " * 300))
    assert detail.findChild(QPlainTextEdit, "json_text").horizontalScrollBar().maximum() == 0


def test_enter_opens_a_value_in_full(detail: EventDetail, qtbot: QtBot) -> None:
    detail.show_event(0, said("x"))
    detail.set_state(ScopedState(session={"draft": "word " * 300}), [])
    model, tree = detail.state.model, detail.state.tree
    tree.setCurrentIndex(model.index(0, 0, model.index(0, 0)))
    qtbot.keyClick(tree, Qt.Key.Key_Return)
    assert shown_dialog(detail).findChild(QPlainTextEdit, "full_text").toPlainText().split() == ["word"] * 300


def test_a_long_values_tooltip_explains_how_to_open_it_and_a_long_key_uses_free_width(detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(EVENT)
    event = said("x")
    event.content.parts = [types.Part(inline_data=types.Blob(mime_type="application/octet-stream", data=b"x" * 256))]
    detail.show_event(0, event)
    detail.cards.show_tree(True)
    tree = detail.cards.tree
    assert tree.columnWidth(0) >= tree.sizeHintForColumn(0)
    detail.request.set_request({"system instruction": "Answer briefly. " * 20})
    tooltip = detail.request.model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert "Double-click or press Enter to open the full text." in tooltip


def test_expanded_branches_stay_expanded_for_another_event(detail: EventDetail) -> None:
    detail.show_event(0, said("x"))
    detail.set_state(ScopedState(session={"a": 1, "cart": {"items": [1]}}, user={"user:x": 1}), [])
    tree, model = detail.state.tree, detail.state.model
    lane = model.index(0, 0)
    assert tree.isExpanded(lane)
    tree.expand(model.index(1, 0, lane))
    tree.collapse(model.index(1, 0))
    detail.set_state(ScopedState(session={"cart": {"items": [1, 2]}}, user={"user:x": 1}), [])
    assert tree.isExpanded(model.index(0, 0, model.index(0, 0))), "the cart moved up a row and is still expanded"
    assert not tree.isExpanded(model.index(1, 0)), "a lane collapsed by the user stays collapsed"


def test_values_are_copied_with_path_and_opened_in_full(detail: EventDetail) -> None:
    detail.show_event(0, said("x"))
    detail.set_state(ScopedState(session={"cart": [{"sku": "PA4", "left": None}]}), [])
    model = detail.state.model
    menu = detail.state.tree.context_menu(model.index(0, 0, model.index(0, 0)))
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    actions["Copy value as JSON"].trigger()
    assert json.loads(QGuiApplication.clipboard().text()) == [{"sku": "PA4", "left": None}]
    actions["Copy value as Python"].trigger()
    assert QGuiApplication.clipboard().text() == "[{'sku': 'PA4', 'left': None}]"
    actions["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == "state['cart']"
    actions["Open full…"].trigger()
    assert "PA4" in shown_dialog(detail).findChild(QPlainTextEdit, "full_text").toPlainText()
    assert detail.state.tree.context_menu(model.index(0, 0)) is None


def test_a_change_is_copied(detail: EventDetail) -> None:
    detail.show_event(0, said("x"))
    detail.set_state(ScopedState(session={"a": 2}), [Change("a", 1, 2, "changed")])
    menu = detail.delta.context_menu(0)
    assert menu is not None
    {action.text(): action for action in menu.actions()}["Copy change as JSON"].trigger()
    assert json.loads(QGuiApplication.clipboard().text()) == {"a": {"before": 1, "after": 2, "kind": "changed"}}


def test_every_tab_paints_in_both_themes(qapp, detail: EventDetail) -> None:
    state = ScopedState(session={"a": None, "b": {"c": ["x" * 10_000]}}, unknown=["user:u"], temp={"temp:t": object()})
    changes = [Change("a", 1, None, "changed"), Change("b", None, 1, "added")]
    for choice, tokens in (("dark", theme.DARK), ("light", theme.LIGHT)):
        theme.apply(qapp, choice)
        for tab in (EVENT, STATE, REQUEST, JSON):
            detail.tabs.setCurrentIndex(tab)
            detail.show_event(0, call_event())
            detail.set_state(state, changes)
            assert detail.grab().toImage().pixelColor(300, 560).name() == (tokens.window if tab == EVENT else tokens.pane)


def test_a_long_author_name_does_not_widen_the_pane(detail: EventDetail) -> None:
    detail.show_event(0, said("x", author="a" * 500))
    assert detail.minimumSizeHint().width() < 420


def test_the_page_scrolls_as_a_whole_and_begins_at_its_top(qtbot: QtBot, detail: EventDetail) -> None:
    detail.show_event(0, said("I pay.\n\n" * 200))
    browser, bar = detail.cards.browser, detail.cards.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1_000)
    assert browser.height() >= browser.document().size().height() and browser.verticalScrollBar().maximum() == 0
    bar.setValue(bar.maximum())
    detail.show_event(1, said("Paid."))
    qtbot.waitUntil(lambda: browser.height() < 40)
    assert bar.value() == 0


def test_paragraphs_have_space_between_them_and_code_is_wrapped(detail: EventDetail) -> None:
    detail.show_event(0, said("one\n\ntwo\n\n```\n" + "long line " * 60 + "\n```\n"))
    document = detail.cards.browser.document()
    blocks = [document.findBlockByNumber(number) for number in range(3)]
    tops = [document.documentLayout().blockBoundingRect(block) for block in blocks]
    assert tops[1].top() - tops[0].bottom() >= 4
    assert blocks[2].layout().lineCount() > 3
    assert document.size().width() <= detail.cards.browser.viewport().width()


def test_the_state_heading_is_not_cut_in_a_long_session(qtbot, detail: EventDetail) -> None:
    detail.resize(600, 700)
    detail.show_event(999_999, said("done"))
    detail.set_state(ScopedState(session={"n": 1}), [], {"n": (0, "#1 writer")})
    header = detail.state.tree.header()
    assert header.model().headerData(0, Qt.Orientation.Horizontal) == "State at 1,000,000"
    qtbot.waitUntil(lambda: header.sectionSize(0) >= header.sectionSizeHint(0))


def test_the_value_column_gets_the_width_the_writer_column_does_not_need(detail: EventDetail) -> None:
    detail.show_event(2, said("x"))
    detail.set_state(ScopedState(session={"draft": "long " * 50}), [], {"draft": (0, "desk")})
    header = detail.state.tree.header()
    assert header.sectionSize(2) == header.sectionSizeHint(2)
    assert header.sectionSize(2) > QFontMetrics(theme.small_font()).horizontalAdvance("#1 desk") + 12


def test_the_search_field_has_a_margin(qtbot, detail: EventDetail) -> None:
    detail.tabs.setCurrentIndex(STATE)
    detail.show_event(2, said("x"))
    detail.set_state(ScopedState(session={"n": 1}), [])
    heading = detail.state.tree.mapTo(detail, QPoint())
    detail.find_in_state()
    field = detail.state.search
    qtbot.waitUntil(field.hasFocus)
    assert field.mapTo(detail, QPoint()) - heading == QPoint(6, 6)
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: detail.state.tree.mapTo(detail, QPoint()) == heading)
