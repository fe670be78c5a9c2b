"""The table of the event stream: painting, keys and clicks."""

from __future__ import annotations

import time

from PySide6.QtCore import QEvent, QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from inspector_app.presentation.values import visible
from inspector_app.stream.event_cells import HEADINGS, TEXT_COLUMNS, Column
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.hits import Hits
from inspector_app.stream.marked_scroll_bar import MarkedScrollBar
from inspector_app.stream.stream_painter import ROW_HEIGHT, Cell, StreamPainter
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import named

WIDE = 760  # pixels at a scale of 100 %, above which the column `took` fits
LEAST_SUMMARY = 200  # pixels at a scale of 100 %, for the summary of an event
PAINT_LATER_MS = 2  # from inserting many rows to painting them; 0 would not let other callbacks of the loop run
PAINT_EACH_MS = 100  # from one painting of streaming rows to the next
PAINT_UNREAD_MS = 30  # from scrolling to rows that are not read to painting them empty


class StreamTable(QTableView):
    """Fixed rows, one selected, headers fold by mouse and keyboard.

    Attributes:
        bar: its scroll bar, with marks.
        is_resizing: whether the view changes because of its size, and not because of new rows.
        keeps_tail: whether the last row, and not the selected one, stays visible when the height changes.

    Signals:
        breakpoint_requested (Event): the gutter was clicked at this event.
    """

    breakpoint_requested = Signal(object)

    def __init__(self, model: EventTableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._events = model
        named(self, "event_table", "Events of the session")
        self.setModel(model)
        self._row_painter = StreamPainter(self)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # scrolled by moving what is painted already
        self._paint_timer = QTimer(self, singleShot=True)
        self._paint_timer.timeout.connect(self._paint_soon)
        self._painted_at = 0.0
        self._rows_are_made = self._must_paint = self._waits_for_rows = False
        self._hits: Hits | None = None
        self.keeps_tail = True
        self.is_resizing = False
        self.bar = MarkedScrollBar(model.position_at, model.rowCount, self)
        self.setVerticalScrollBar(self.bar)
        for changed in (model.modelReset, model.rowsInserted, model.rowsRemoved):
            changed.connect(self.bar.refresh)
        model.page_read.connect(self._on_page_read)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self._fitted: object = None
        self._set_up_headers()
        self.clicked.connect(self._on_clicked)
        theme.current().changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self._row_painter = StreamPainter(self)
        self.fit_columns()
        self.paint_next()

    def _set_up_headers(self) -> None:
        self.setHorizontalHeader(_Headings(self))
        rows = self.verticalHeader()
        rows.setVisible(False)
        theme.keep_row_height(self, ROW_HEIGHT)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns = self.horizontalHeader()
        columns.setHighlightSections(False)
        columns.setSectionsClickable(False)
        columns.setMinimumSectionSize(20)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        columns.setSectionResizeMode(Column.EVENT, QHeaderView.ResizeMode.Stretch)
        for fixed in (Column.GUTTER, *TEXT_COLUMNS):
            columns.setSectionResizeMode(fixed, QHeaderView.ResizeMode.Fixed)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Fit the columns to their texts and hide the tokens where none are counted; the summary gets the rest."""
        number = theme.with_widest_digits(f"{max(self._events.event_count, 100):,}")
        tokens = theme.with_widest_digits(f"{max(self._events.most_tokens, 1000):,}")
        widest_author = max(150, self.width() // 8)
        fitted = (number, tokens, len(self._events.authors), self._events.most_tokens == 0, self.font().key(), widest_author)
        if fitted == self._fitted:
            return
        self._fitted = fitted
        small, normal = QFontMetrics(theme.small_font()), QFontMetrics(self.font())
        authors = [normal.horizontalAdvance(visible(name[:80])) for name in [*self._events.authors, "author"]]
        samples = {Column.NUMBER: number, Column.TOKENS: tokens}
        for column, texts in TEXT_COLUMNS.items():
            letters = small if texts.is_small else normal
            widest = letters.horizontalAdvance(samples.get(Column(column), texts.sample))
            self.setColumnWidth(column, max(widest, normal.horizontalAdvance(HEADINGS[column])) + 14)
        self.setColumnWidth(Column.GUTTER, theme.px(24))
        self.setColumnWidth(Column.AUTHOR, min(max(authors), widest_author) + 16)
        self._hide_columns()

    def _hide_columns(self) -> None:
        """Hide what does not fit beside a readable summary: first how long events took, then their tokens, then their times."""
        self.setColumnHidden(Column.TOOK, self.width() < theme.px(WIDE))
        self.setColumnHidden(Column.TOKENS, self._events.most_tokens == 0)
        self.setColumnHidden(Column.TIME, False)
        others = [column for column in range(len(Column)) if column != Column.EVENT]
        for column in (Column.TOKENS, Column.TIME):
            taken = sum(self.columnWidth(other) for other in others if not self.isColumnHidden(other))
            if self.viewport().width() - taken < theme.px(LEAST_SUMMARY):
                self.setColumnHidden(column, True)

    def _on_clicked(self, index: QModelIndex) -> None:
        if self._events.is_header(index.row()):
            self.fold(index.row(), not self._events.stream_row(index.row()).folded)
        elif index.column() == Column.GUTTER and (event := self._events.event_at(index.row())) is not None and not event.partial:
            self.breakpoint_requested.emit(event)

    def show_hits(self, hits: Hits | None) -> None:
        """Mark the rows of these events; None: mark none."""
        self._hits = hits
        self.bar.refresh()
        self.viewport().update()

    def paint_later(self) -> None:
        """Postpone painting, so that inserting many rows and painting them do not block the loop in one turn.

        Rows that scroll by too fast to read are painted ten times a second.
        """
        if not self._paint_timer.isActive() and not self._must_paint:
            self.viewport().setUpdatesEnabled(False)  # of the table, headings would be repainted too
            since = int((time.perf_counter() - self._painted_at) * 1000)
            self._paint_timer.start(max(PAINT_EACH_MS - since, PAINT_LATER_MS))

    def _paint_soon(self) -> None:
        """Make the rows at the end, which are painted next, and give up the loop once more; then paint."""
        if self._rows_are_made:
            self.paint_next()
            return
        self._rows_are_made = True
        last = self._events.rowCount() - 1
        for row in range(max(last - self.viewport().height() // theme.row_px(ROW_HEIGHT), 0), last + 1):
            self._events.stream_row(row)
        self._paint_timer.start(PAINT_LATER_MS)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Scroll. Rows that have to be read first are painted when they are, or in a moment: painting them twice delays the reading."""
        super().scrollContentsBy(dx, dy)
        is_free = self.isVisible() and not self.is_resizing and not self._must_paint and not self._paint_timer.isActive()
        if is_free and not self._events.are_read(self._rows()):
            self.viewport().setUpdatesEnabled(False)
            self._rows_are_made = self._waits_for_rows = True
            self._paint_timer.start(PAINT_UNREAD_MS)

    def _on_page_read(self) -> None:
        if self._waits_for_rows:
            self.paint_next()

    def _rows(self, top: int = 0, bottom: int | None = None) -> range:
        """Return the rows between two heights of the viewport; without them, all that are visible."""
        first, last = self.rowAt(top), self.rowAt(self.viewport().height() - 1 if bottom is None else bottom)
        return range(first, (last if last >= 0 else self._events.rowCount() - 1) + 1) if first >= 0 else range(0)

    def paint_next(self) -> None:
        """Paint before anything is postponed again. Call it when the window is resized, which discards what was painted."""
        self._paint_timer.stop()
        self._rows_are_made = self._waits_for_rows = False
        self._must_paint = True
        self.viewport().setUpdatesEnabled(True)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows that have to be painted again."""
        if self._waits_for_rows:
            return  # the scrolling asked for it; what was painted before stays
        self._must_paint = False
        self._painted_at = time.perf_counter()
        events, dirty = self._events, event.rect()
        with QPainter(self.viewport()) as painter:
            painter.fillRect(dirty, theme.color("pane"))
            cells = [
                Cell(column, self.columnViewportPosition(column), self.columnWidth(column))
                for column in range(len(Column))
                if not self.isColumnHidden(column)
            ]
            selected = {index.row() for index in self.selectionModel().selectedRows()}
            for row in self._rows(dirty.top(), dirty.bottom()):
                is_hit = self._hits is not None and events.index_at(row) in self._hits
                top = self.rowViewportPosition(row)
                self._row_painter.paint(painter, top, cells, events.stream_row(row), selected=row in selected, is_hit=is_hit)

    def showEvent(self, event: QShowEvent) -> None:
        """Paint at once, because another page was displayed."""
        super().showEvent(event)
        self.paint_next()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the column `took` where it fits, and keep the selected row visible, and else the tail, when a card appears below."""
        current = self.currentIndex() if self.is_seen(event.oldSize().height()) else QModelIndex()
        self.is_resizing = True
        super().resizeEvent(event)
        if self._waits_for_rows:
            self.paint_next()  # another size discards what was painted
        self.fit_columns()
        self._hide_columns()
        self.scrollTo(current, QAbstractItemView.ScrollHint.EnsureVisible)
        self.is_resizing = False

    def is_seen(self, height: int) -> bool:
        """Return whether a part of the selected row is in a viewport of this height."""
        place = self.visualRect(self.currentIndex())
        return place.isValid() and place.bottom() >= 0 and place.top() < height

    def show_tail(self) -> None:
        """Scroll to the newest event, as far as the selected row stays visible."""
        current = self.currentIndex() if self.is_seen(self.viewport().height()) else QModelIndex()
        self.is_resizing = True
        self.scrollToBottom()
        self.scrollTo(current, QAbstractItemView.ScrollHint.EnsureVisible)
        self.is_resizing = False

    def fold(self, row: int, folded: bool) -> None:
        """Fold or unfold a header's group, and select the header, as a selected row below it would disappear."""
        self.setCurrentIndex(self._events.index(row, Column.EVENT))
        self._events.set_folded(row, folded)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Fold with left, right and Enter on a header; Home and End go to the first and last event."""
        row = self.currentIndex().row()
        key = event.key()
        header = row >= 0 and self._events.is_header(row)
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            found = self._events.shown_after(-1) if key == Qt.Key.Key_Home else self._events.shown_before(self._events.event_count)
            if found is not None:
                self._go_to_event(found)
        elif header and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.fold(row, key == Qt.Key.Key_Left)
        elif header and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.fold(row, not self._events.stream_row(row).folded)
        else:
            super().keyPressEvent(event)

    def _go_to_event(self, index: int) -> None:
        if not 0 <= index < self._events.event_count:
            return
        row = self._events.row_of_index(index)
        shown = row if row is not None else self._events.header_row_of_index(index)
        if shown is None:
            return
        self.setCurrentIndex(self._events.index(shown, Column.EVENT))


class _Headings(QHeaderView):
    """Headings that are measured once; Qt would measure them whenever a row changes."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._measured: QSize | None = None

    def sizeHint(self) -> QSize:
        """Return the size of the headings."""
        if self._measured is None:
            self._measured = super().sizeHint()
        return self._measured

    def changeEvent(self, event: QEvent) -> None:
        """Measure again in another font or style."""
        self._measured = None
        super().changeEvent(event)
