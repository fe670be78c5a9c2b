"""Values of a delta that are wider than their column."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QFontMetrics
from pytestqt.qtbot import QtBot

from inspector_app.presentation.value_differences import MarkedText
from inspector_app.state.delta_delegate import DOTS, fitted


@pytest.mark.parametrize("marked", [MarkedText('"Have a good trip."', 1, 17), MarkedText("same old", 5, 8), MarkedText("all", 0, 3)])
def test_a_value_that_is_cut_ends_with_dots_at_any_width(marked: MarkedText, qtbot: QtBot) -> None:
    plain, bold = QFont("monospace"), QFont("monospace")
    bold.setBold(True)
    whole = sum(QFontMetrics(font).horizontalAdvance(text) for text, font in fitted(marked, plain, bold, 10_000))
    for room in range(QFontMetrics(bold).horizontalAdvance(DOTS) + 1, whole + 20):
        pieces = fitted(marked, plain, bold, room)
        shown = "".join(text for text, _ in pieces)
        assert shown == marked.text if room >= whole else shown.endswith(DOTS) and shown != marked.text, room
        assert sum(QFontMetrics(font).horizontalAdvance(text) for text, font in pieces) <= room, room
