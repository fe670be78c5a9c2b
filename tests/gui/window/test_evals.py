"""The page of evals: an eval set is dropped, run on the loaded agent, and a failed case is shown beside what was expected."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog

from inspector_app.app import Inspector
from inspector_app.engines.engine_choice import EngineChoice
from inspector_app.evals.eval_page import EvalPage
from runtime.errors.missing_package_error import install_command
from tests.gui.window.driver import WindowDriver, text_of
from tests.gui.window.trusting import trust_folder

DATA = Path(__file__).parents[2] / "data" / "evals"
SCORES = json.loads((DATA / "adk_scores.json").read_text("utf-8"))["default"]


@pytest.fixture
def eval_set(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "clerk.evalset.json", tmp_path))


@pytest.fixture
def clerk(inspector: Inspector, opened: Callable[..., None], tmp_path: Path) -> Inspector:
    """The window with the clerk on the embedded runtime."""
    folder = Path(shutil.copytree(DATA / "clerk", tmp_path / "clerk"))
    trust_folder(inspector, folder)
    inspector.agents._engine = EngineChoice("embedded")
    opened(folder)
    assert inspector.agents.loaded is not None and inspector.agents.loaded.engine_title == "embedded runtime"
    return inspector


def page_of(driver: WindowDriver) -> EvalPage:
    page = driver.inspector.window.parts.evals
    driver.run_until(lambda: driver.inspector.window.page is page)
    return page


def test_a_dropped_eval_set_is_run_with_the_scores_of_adk_eval(clerk: Inspector, driver: WindowDriver, eval_set: Path) -> None:
    data = json.loads(eval_set.read_text("utf-8"))
    eval_set.write_text(json.dumps({**data, "eval_cases": data["eval_cases"][:4]}))
    driver.drop([eval_set])
    page = page_of(driver)
    assert {row[1] for row in page.rows()} == {"not run"}
    assert page.head.facts == "Runs on clerk · embedded runtime"
    driver.click(page, "eval_run_all")
    driver.run_until_idle()
    assert page.head.state == "3 of 4 cases passed, 1 failed."
    shown = {row[0]: (row[1], float(row[2].split()[0]), float(row[3].split()[0])) for row in page.rows()}
    wanted = {
        name: (case["status"], round(case["tool_trajectory_avg_score"], 3), round(case["response_match_score"], 3))
        for name, case in SCORES.items()
    }
    assert shown == {name: wanted[name] for name in ("greets", "price", "wrong args", "parallel as events")}
    assert clerk.work.unsaved.count() == 0, "an eval is run again at any time"
    driver.run_message("Hello")
    assert clerk.work.unsaved.count() == 5, "a person's message is kept with all others"


def test_a_failed_case_is_shown_beside_what_was_expected(clerk: Inspector, driver: WindowDriver, eval_set: Path) -> None:
    driver.drop([eval_set])
    page = page_of(driver)
    page.select("wrong args")
    assert [step.differs for step in page.steps.steps] == [None, None, None]
    driver.click(page, "eval_run_one")
    driver.run_until_idle()
    assert [row[1] for row in page.rows() if row[1] != "not run"] == ["failed"]
    assert [(step.what, step.expected, step.actual, step.differs) for step in page.steps.steps] == [
        ("message", "Tell me the price", "Tell me the price", False),
        ("call", 'price(item="ink")', 'price(item="paper")', True),
        ("response", "Forty boxes of paper cost 128 euros.", "Forty boxes of paper cost 128 euros.", False),
    ]
    driver.click(page, "eval_compare")
    window = clerk.window
    driver.run_until(lambda: window.page is window.parts.compare)
    driver.run_until_idle()
    assert text_of(window.parts.compare, "compare_count").startswith("Difference 1 of")
    driver.click(window.parts.compare, "compare_close")
    assert window.page is page
    driver.click(page, "eval_session")
    driver.run_until_idle()
    assert window.page is window.workbench
    assert [call.args for event in driver.stream.events() for call in event.get_function_calls()] == [{"item": "paper"}]


def test_a_recorded_answer_is_given_to_the_pending_call(
    inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_INSPECTOR_SAMPLE_DELAY", "0")
    orders = Path(shutil.copytree(DATA.parents[2] / "resources" / "samples" / "orders", tmp_path / "orders"))
    trust_folder(inspector, orders)
    opened(orders)
    call = {"id": "recorded", "name": "ask_for_approval", "args": {"total": 168.0, "reason": "40 × A4 paper"}}
    answer = {"id": "recorded", "name": "ask_for_approval", "response": {"status": "approved"}}
    asked = [{"author": "order_desk", "content": {"parts": [{"function_call": call}]}}]
    turns = [
        {"user_content": {"parts": [{"text": "40 boxes of A4 paper"}]}, "intermediate_data": {"invocation_events": asked}},
        {"user_content": {"parts": [{"function_response": answer}]}, "final_response": {"parts": [{"text": "Done: order 1041"}]}},
    ]
    file = tmp_path / "orders.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "orders", "eval_cases": [{"eval_id": "big", "conversation": turns}]}))
    driver.drop([file])
    page = page_of(driver)
    page.select("big")
    driver.click(page, "eval_run_one")
    driver.run_until_idle()
    steps = [(step.what, step.turn, step.actual) for step in page.steps.steps if step.turn == 2]
    assert steps[0] == ("message", 2, 'ask_for_approval → {"status": "approved"}')
    assert steps[1] == ("call", 2, "place_order()")
    assert steps[2][2].startswith("Done: order 1041, 168.00 €")


def test_an_error_fails_its_case_only_and_the_file_is_read_again(clerk: Inspector, driver: WindowDriver, eval_set: Path) -> None:
    data = json.loads(eval_set.read_text("utf-8"))
    data["eval_cases"] = data["eval_cases"][:2]
    data["eval_cases"][0]["conversation"][0]["user_content"]["parts"][0]["text"] = "unknown word"
    eval_set.write_text(json.dumps({**data, "eval_cases": data["eval_cases"][:1]}))
    driver.drop([eval_set])
    page = page_of(driver)
    assert len(page.rows()) == 1
    eval_set.write_text(json.dumps(data))  # a case was added meanwhile
    driver.click(page, "eval_run_all")
    driver.run_until(lambda: "passed" in page.head.state)
    driver.click(page, "eval_run_all")
    driver.run_until_idle()
    assert [row[1] for row in page.rows()] == ["failed", "passed"]
    page.select(page.rows()[0][0])
    assert page.steps.steps[0].what == "error"
    assert "KeyError" in page.steps.steps[0].actual


def test_judged_metrics_say_what_evaluates_them(clerk: Inspector, driver: WindowDriver, eval_set: Path) -> None:
    eval_set.with_name("test_config.json").write_text('{"criteria": {"final_response_match_v2": 0.5, "tool_trajectory_avg_score": 1}}')
    driver.drop([eval_set])
    page = page_of(driver)
    assert "final_response_match_v2: not evaluated: needs google-adk" in page.head.facts
    driver.click(page, "eval_run_one")
    driver.run_until_idle()
    assert page.rows()[0][:4] == ("greets", "passed", "not evaluated", "1.000")


def test_without_an_agent_it_offers_to_open_one_and_comes_back(
    inspector: Inspector, driver: WindowDriver, eval_set: Path, opened: Callable[..., None], tmp_path: Path
) -> None:
    driver.drop([eval_set])
    page = page_of(driver)
    assert not page.run_all_button.isEnabled()
    assert "Open an agent first" in page.run_all_button.toolTip()
    driver.click(page, "eval_agent")
    for dialog in inspector.window.findChildren(QFileDialog):
        dialog.close()
    folder = Path(shutil.copytree(DATA / "clerk", tmp_path / "clerk"))
    trust_folder(inspector, folder)
    inspector.agents._engine = EngineChoice("embedded")
    opened(folder)
    assert inspector.window.page is page
    assert page.run_all_button.isEnabled()
    assert not page.agent_button.isVisible()


def test_a_file_that_is_no_eval_set_says_so(inspector: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    (tmp_path / "a.evalset.json").write_text("{}")
    driver.drop([tmp_path / "a.evalset.json"])
    assert "is no eval set" in driver.log_text()
    assert inspector.window.page is not inspector.window.parts.evals


def test_a_missing_package_is_named_before_the_first_call_and_the_other_scores_are_shown(
    clerk: Inspector, driver: WindowDriver, eval_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score", None)  # Python then finds no such package
    driver.drop([eval_set])
    page = page_of(driver)
    lacks = f"needs the package rouge_score: {install_command(extra='eval')}"
    assert page.head.facts == f"Runs on clerk · embedded runtime · response_match_score: not evaluated: {lacks}"
    driver.click(page, "eval_run_one")
    driver.run_until_idle()
    assert page.rows()[0][:4] == ("greets", "passed", "1.000", "not evaluated")
    eval_set.with_name("test_config.json").write_text('{"criteria": {"response_match_score": 1}}')
    driver.click(page, "eval_run_all")
    driver.run_until_idle()
    assert f"No case was run, as nothing can be measured: response_match_score {lacks}" in driver.log_text()
    assert {row[1] for row in page.rows()} == {"not run"}
