"""Labels and buttons in one call."""

from __future__ import annotations

from PySide6.QtCore import Qt

from inspector_app.widgets.controls import plain_label, push_button


def test_a_label_shows_markup_as_it_is(qapp: object) -> None:
    label = plain_label("<b>1 & 2</b>", "what", "bad", wraps=True)
    assert (label.text(), label.textFormat(), label.objectName()) == ("<b>1 & 2</b>", Qt.TextFormat.PlainText, "what")
    assert (label.property("role"), label.wordWrap()) == ("bad", True)


def test_a_label_has_no_role_and_one_line_unless_asked(qapp: object) -> None:
    label = plain_label("1")
    assert (label.property("role"), label.wordWrap(), label.objectName()) == (None, False, "")


def test_a_button_is_called_by_its_text_or_by_what_it_does(qapp: object) -> None:
    clicks: list[str] = []
    button = push_button("Copy", "copy", lambda: clicks.append("copy"), does="Copy the event")
    button.click()
    assert (button.accessibleName(), button.objectName(), clicks) == ("Copy the event", "copy", ["copy"])
    assert push_button("Close", "close").accessibleName() == "Close"
