"""The status bar, whose updates must not lay out the window during a live stream."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QMainWindow

from inspector_app.shell.status_bar import StatusBar


class Layouts(QObject):
    """Counts the layout requests of a window."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_growing_counters_request_no_layout(qtbot, qapp: QApplication) -> None:
    window, bar = QMainWindow(), StatusBar()
    qtbot.addWidget(window)
    window.setStatusBar(bar)
    window.show()
    bar.show_position(9_000, 9_001)
    bar.show_tokens(1_000)
    for _ in range(5):  # nested layouts are updated one event-loop turn after the other
        QApplication.processEvents()
    layouts = Layouts()
    window.installEventFilter(layouts)
    for count in range(9_001, 9_040):
        bar.show_position(count, count + 1)
        bar.show_tokens(1_000 + count % 9)
        QApplication.processEvents()
    assert bar.text("position") == "9,040/9,040"
    assert layouts.count == 0


def test_every_part_is_wide_enough_for_its_text(qtbot, qapp: QApplication) -> None:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.resize(1200, 30)
    bar.show()
    bar.show_position(11_111, 111_111)
    for count in (1, 88, 888_888):
        bar.show_position(count, count)
        QApplication.processEvents()
        label = bar._parts["position"]._label
        assert label.width() >= label.fontMetrics().horizontalAdvance(label.text())
        assert label.height() >= label.fontMetrics().height()
