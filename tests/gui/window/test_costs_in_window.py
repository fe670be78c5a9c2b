"""Costs in the stream's group rows and in the status bar."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.presentation.costs import dollars
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import Tokens
from tests.gui.window.driver import WindowDriver


def headers(inspector: Inspector) -> list[str]:
    model = inspector.features.stream.events
    rows = [model.stream_row(row) for row in range(model.rowCount())]
    return [row.tokens for row in rows if row.kind == "invocation"]


def expected(*calls: Tokens, model: str = "gemini-2.5-flash") -> str:
    costs = [Prices().cost(model, tokens, 1_795_000_000) for tokens in calls]
    return dollars(sum((cost for cost in costs if cost is not None), Decimal(0)))


def test_groups_and_the_session_have_sums(
    inspector: Inspector,
    recorded_db: Path,
    opened: Callable[..., None],
    qtbot: QtBot,
) -> None:
    status = inspector.window.status
    opened(recorded_db)
    qtbot.waitUntil(lambda: "$" in status.text("tokens"), timeout=20_000)
    small, calling, answering = Tokens(900, 0, 4), Tokens(1_400, 0, 20), Tokens(1_700, 1_024, 120)
    assert [text.split("   ")[-1].split(" · ")[-1] for text in headers(inspector)] == [
        expected(small),
        expected(small),
        "1 event",
        expected(calling, answering),
    ]
    assert status.text("tokens") == f"5,048 tokens · {expected(small, small, calling, answering)}"


def test_an_unknown_price_is_reported_and_a_run_is_added(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    status = story.window.status
    qtbot.waitUntil(lambda: "cost unknown" in status.text("tokens"), timeout=20_000)
    before = status.text("tokens")
    driver.run_message("one more")
    qtbot.waitUntil(lambda: "cost unknown" in status.text("tokens") and status.text("tokens") != before, timeout=20_000)
    assert "$" not in "".join(headers(story))


def test_events_evicted_before_they_were_priced_are_in_no_sum(
    inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(recorded_db)
    costs, session = inspector.work.costs, inspector.current.session
    assert costs is not None and session is not None
    qtbot.waitUntil(lambda: costs.total is not None, timeout=20_000)
    costs.price_again()
    session.events.evict(1)
    with qtbot.waitSignal(costs.changed, timeout=20_000):
        pass
    assert costs.total is None, "it would be too small"
    assert costs.of_group(session.groups[0]) is None
    assert costs.of_group(session.groups[len(session.groups) - 1]) is not None
