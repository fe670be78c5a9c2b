"""The Timeline pane: its range, the chart, and where the times are from."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from inspector_app.presentation.timeline_rows import Timeline
from inspector_app.timeline.timeline_chart import ZOOM, TimelineChart
from inspector_app.widgets.drawn_pane import DrawnPane
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import named
from inspector_app.widgets.pictures import PictureButton, tool_button
from inspector_app.widgets.tooltips import set_tooltip

# Range → its name: the selected event's invocation alone, with another one below, or all of the session.
RANGES = {
    "invocation": "This invocation",
    "previous": "With the one before",
    "compared": "With the compared event's",
    "session": "Whole session",
}


class TimelineView(DrawnPane):
    """A view of a `Timeline`, or a text that explains why there is none.

    Attributes:
        chart: the chart.
        charts_button: shows the charts instead.

    Signals:
        event_chosen (int): the user chose the event at this position.
        range_chosen: the user chose another range.
    """

    event_chosen = Signal(int)
    range_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.chart = TimelineChart()
        empty = EmptyState("No timeline", "Select an event to see its invocation on a time axis.")
        super().__init__("timeline_view", "timeline_sources", self.chart, empty, parent)
        self.chart.event_chosen.connect(self.event_chosen)
        self._range = named(QComboBox(), "timeline_range", "Range of the timeline")
        set_tooltip(self._range, "Range of the timeline")  # Qt names a box without a label by its choice
        self._range.setProperty("small", "true")
        for name, text in RANGES.items():
            self._range.addItem(text, name)
        self._range.currentIndexChanged.connect(lambda _: self.range_chosen.emit())
        self._out = tool_button("timeline_zoom_out", "magnifying-glass-minus", "Zoom out", "-")
        self._fit = tool_button("timeline_fit", "arrows-left-right-to-line", "Show all", "0")
        self._in = tool_button("timeline_zoom_in", "magnifying-glass-plus", "Zoom in", "+, or Ctrl and the wheel")
        self.picture = PictureButton(self, "timeline", lambda: self.chart.picture_size, self.chart.paint_whole)
        self._out.clicked.connect(lambda: self.chart.zoom(1 / ZOOM))
        self._in.clicked.connect(lambda: self.chart.zoom(ZOOM))
        self._fit.clicked.connect(self.chart.fit)
        self.charts_button = tool_button("timeline_charts", "chart-column", "Show charts over the turns")
        self.charts_button.setText("Charts")
        self.charts_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.lay_out(self.charts_button, self._range, (self._note, 1), self._out, self._fit, self._in, self.picture, spacing=6)
        self.set_timeline(None, {})

    @property
    def range(self) -> str:
        """The chosen range, a key of `RANGES`."""
        return str(self._range.currentData())

    def choose_range(self, name: str) -> None:
        """Choose a range, a key of `RANGES`."""
        self._range.setCurrentIndex(max(self._range.findData(name), 0))

    def set_timeline(self, shown: Timeline | None, roles: dict[str, str], note: str = "", *, keep_zoom: bool = False) -> None:
        """Show a timeline.

        Args:
            shown: the timeline; None for none.
            roles: author → colour role.
            note: a sentence to add to that about the sources of the times.
            keep_zoom: show the same part of the axis; the timeline has only grown.
        """
        is_there = shown is not None and bool(shown.rows)
        self.chart.set_timeline(shown, roles, keep_zoom=keep_zoom)
        marks = "underlined: critical path" if shown is not None and shown.sources else ""
        self._note.setText(" · ".join(filter(None, (note, shown.sources if shown is not None else "", marks))))
        self.show_drawing(is_there)
        for button in (self._out, self._fit, self._in):
            button.setEnabled(is_there)

    def allow_comparison(self, allowed: bool) -> None:
        """Enable the range with the compared event's invocation, or disable it."""
        item = self._range.model().item(self._range.findData("compared"))  # type: ignore[attr-defined]  # a QStandardItemModel
        item.setEnabled(allowed)
        item.setToolTip("" if allowed else "Select an event, press Ctrl+B, and select an event of another invocation.")

    def select_event(self, index: int | None, time: float | None) -> None:
        """Mark the selected event.

        Args:
            index: position of the event; None for none.
            time: its timestamp, epoch seconds.
        """
        self.chart.select_event(index, time)
