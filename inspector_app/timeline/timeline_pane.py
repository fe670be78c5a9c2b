"""The Timeline pane: a time axis, or charts over the turns."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from inspector_app.timeline.timeline_view import TimelineView
from inspector_app.timeline.turns_view import TurnsView


class TimelinePane(QStackedWidget):
    """One of two views, each with a button that shows the other.

    Attributes:
        axis, charts: the views.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline_pane")
        self.axis, self.charts = TimelineView(), TurnsView()
        for view in (self.axis, self.charts):
            self.addWidget(view)
        self.axis.charts_button.clicked.connect(self.show_charts)
        self.charts.axis_button.clicked.connect(self.show_axis)

    def show_charts(self) -> None:
        """Show the charts."""
        self._show(self.charts, self.charts.axis_button)

    def show_axis(self) -> None:
        """Show the time axis."""
        self._show(self.axis, self.axis.charts_button)

    def set_in_front(self, in_front: bool) -> None:
        """Take over whether the pane's dock is in front; a view that is not displayed computes nothing."""
        for view in (self.axis, self.charts):
            view.displayed.set_in_front(in_front)

    def _show(self, view: QWidget, back: QWidget) -> None:
        had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
        self.setCurrentWidget(view)
        if had_focus:
            back.setFocus()
