"""The cards of the selected event in the window: where it came from, what is wrong with it, and the ways on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from bench.generated import write_database
from inspector_app.analysis.finding import Finding
from inspector_app.app import Inspector
from inspector_app.detail.card import Card
from inspector_app.detail.prose import Prose
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, open_agent
from tests.interop.google_adk import adk_python


def text(card: Card) -> str:
    return card.findChild(Prose).toPlainText() if card.isVisible() else ""


def follow(card: Card, link: str) -> None:
    prose = card.findChild(Prose)
    assert f'href="{link}"' in prose.toHtml()
    prose.anchorClicked.emit(QUrl(link))


def test_an_answer_says_which_call_it_came_from_and_leads_to_its_request(
    inspector: Inspector, driver: WindowDriver, recorded_db: Path, opened: Callable[..., None]
) -> None:
    opened(recorded_db)
    detail = inspector.window.parts.detail
    answers = [number for number, event in enumerate(driver.stream.events()) if event.author != "user" and event.usage_metadata]
    driver.stream.select(answers[-1])
    driver.run_until(lambda: "first token after" in text(detail.cards.origin))
    shown = text(detail.cards.origin)
    assert shown.startswith(f"Model call {len(answers)} of {len(answers)}") and "$0.00" in shown
    assert detail.tabs.tabText(detail.tabs.currentIndex()) == "Event", "the answer is read without a click"
    follow(detail.cards.origin, "inspector:request")
    assert detail.tabs.tabText(detail.tabs.currentIndex()) == "Request"
    driver.stream.select(0)
    assert text(detail.cards.origin) == ""


def test_a_result_leads_to_its_call(orders: Inspector, driver: WindowDriver) -> None:
    driver.run_message("2 boxes of A4 paper")
    events, detail = driver.stream.events(), orders.window.parts.detail
    result = next(number for number, event in enumerate(events) if event.get_function_responses())
    (response, *_) = events[result].get_function_responses()
    called = next(number for number, event in enumerate(events) if any(call.id == response.id for call in event.get_function_calls()))
    driver.stream.select(result)
    assert detail.cards.calls.title == f"Result of {response.name}"
    follow(detail.cards.origin, f"inspector:event/{called}")
    driver.run_until(lambda: detail.event_id == events[called].id)


def test_calls_are_not_numbered_in_a_session_that_is_not_read_whole(
    inspector: Inspector, driver: WindowDriver, tmp_path: Path, opened: Callable[..., None]
) -> None:
    write_database(tmp_path / "long.db", 3_000)
    opened(tmp_path / "long.db")
    cards = inspector.window.parts.detail.cards
    found = []
    for index in range(2_000, 2_010):
        driver.stream.select(index)
        driver.run_until_idle()
        found.append(text(cards.origin))
    assert any("read the request" in one for one in found) and not any(" of " in one for one in found)


def test_findings_about_an_event_are_on_its_page(story: Inspector, driver: WindowDriver) -> None:
    detail, events = story.window.parts.detail, driver.stream.events()
    finding = Finding("odd", "warning", "It is odd.", "Why not.", "Look at it.", None, events[1].id)
    story.features.findings.controller.found.emit({events[1].id: [finding]})
    driver.stream.select(1)
    assert text(detail.cards.findings) == "It is odd. Look at it."
    driver.stream.select(2)
    assert text(detail.cards.findings) == ""


def test_the_json_is_at_the_right_of_the_tabs(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    detail = story.window.parts.detail
    driver.stream.select(1)
    button = detail.findChild(QToolButton, "event_json")
    bar = detail.tabs.tabBar()
    assert [bar.tabText(tab) for tab in range(bar.count()) if bar.isTabVisible(tab)] == ["Event", "State", "Request"]
    assert button.mapTo(detail, button.rect().topLeft()).x() > bar.tabRect(2).right()
    button.click()
    assert button.isChecked() and detail.json.isVisible() and detail.event_id in detail.json.text
    detail.tabs.setCurrentIndex(1)
    assert not button.isChecked() and detail.state.isVisible()


@pytest.mark.parametrize("tab", [0, 1, 3])
def test_writing_a_note_shows_its_editor(story: Inspector, driver: WindowDriver, qtbot: QtBot, tab: int) -> None:
    detail = story.window.parts.detail
    driver.stream.select(1)
    detail.tabs.setCurrentIndex(tab)
    story.window.commands.edit_note.trigger()
    driver.run_until(lambda: detail.note.text.isVisible() and not detail.note.text.visibleRegion().isEmpty())
    detail.note.text.setPlainText("Ask Ana.")
    detail.note.save()
    driver.run_until_idle()
    assert detail.note.isVisible() and "Ask Ana." in detail.note.text.toPlainText()


@pytest.mark.usefixtures("prepared_pythons")
def test_an_answer_of_an_agent_on_google_adk_has_its_cards_and_its_request(driver: WindowDriver, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    open_agent(driver, Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__"))))
    driver.run_message(json.dumps([["call", "weather", {"city": "Bern"}], ["done"]]))
    detail = driver.bench.parts.detail
    driver.stream.select(1)
    driver.run_until(lambda: detail.cards.calls.title == "Call weather")
    driver.run_until(lambda: text(detail.cards.origin).startswith("Model call 1 of 2"))
    assert text(detail.cards.calls).split() == ["city", "Bern"]
    driver.stream.select(2)
    driver.run_until(lambda: "Answers the call of event 2" in text(detail.cards.origin))
    driver.stream.select(3)
    follow(detail.cards.origin, "inspector:request")
    driver.run_until(lambda: text(detail.request.cards["conversation"]) != "")
    conversation = text(detail.request.cards["conversation"])
    assert "event 2" in conversation and "weather(" in conversation and "event 3" in conversation
    detail.request.findChild(QToolButton, "request_since").click()
    assert "··· 1 unchanged message" in text(detail.request.cards["conversation"])
    driver.run_until_idle()
