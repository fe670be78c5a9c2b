"""The guided tour: five cards, each beside the part of the window that it explains."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDockWidget, QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from inspector_app.shell.focus_home import FocusLoan
from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.places import Places, Stop

_WIDTH = 320
_GAP = 10  # pixels between the card and what it explains


class TourCard(QFrame):
    """A card that explains one part of the window after the other. The arrow keys change the card, Escape ends the tour.

    Args:
        window: the parent; the card keeps its place when the window is resized.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("tour_card")
        self.setProperty("card", "said")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._frame = QFrame(window)
        self._frame.setObjectName("tour_frame")
        self._frame.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._stops: Sequence[Stop] = ()
        self._place_in_tour = 0
        self._places: Places
        self._page_after: QWidget | None = None
        self._keyboard = FocusLoan()
        self._title, self._text, self._count = QLabel(), QLabel(), QLabel()
        for label, name, role in ((self._title, "title", "name"), (self._text, "text", ""), (self._count, "count", "secondary")):
            label.setObjectName(f"tour_{name}")
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setProperty("role", role)
        self._text.setWordWrap(True)
        self._back = push_button("Back", "tour_back", self._on_back, parent=self)
        self._next = push_button("Next", "tour_next", self._on_next, parent=self)
        self._next.setProperty("primary", "true")
        self._skip = push_button("Skip", "tour_skip", self.end, parent=self)
        buttons = QHBoxLayout()
        buttons.addWidget(self._count)
        buttons.addStretch(1)
        for button in (self._skip, self._back, self._next):
            buttons.addWidget(button)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(14, 12, 14, 12)
        rows.setSpacing(8)
        rows.addWidget(self._title)
        rows.addWidget(self._text)
        rows.addLayout(buttons)
        for key, slot in (("Right", self._on_next), ("Left", self._on_back), ("Escape", self.end)):
            QShortcut(QKeySequence(key), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut).activated.connect(slot)
        self._watched: list[QWidget] = []  # what is explained, with its parents: a page that was just displayed gets its layout later
        window.installEventFilter(self)
        theme.current().changed.connect(self._place)
        self.end()

    def start(self, places: Places, page: QWidget | None) -> None:
        """Begin the tour at its first card, in the workbench.

        Args:
            places: has the stops, and displays pages.
            page: the page that is displayed now; it returns after the tour.
        """
        self._places, self._page_after = places, None
        places.workbench_requested.emit()
        self._page_after = page
        self._stops = [stop for _, stop in sorted(places.tour, key=lambda entry: entry[0])]
        self._frame.show()
        self._frame.raise_()
        self.show()
        self._show(0)

    def end(self) -> None:
        """Close the card and give the keyboard focus back."""
        was_shown = self.isVisible()
        self.hide()
        self._frame.hide()
        self._stops = ()
        self._watch(None)
        if was_shown:
            self._keyboard.give_back()
            page, self._page_after = self._page_after, None
            if page is not None:
                self._places.page_requested.emit(page)

    def on_page_changed(self, is_workbench: bool) -> None:
        """End the tour if what it explains is displayed no more; what is opened meanwhile stays displayed after it."""
        self._page_after = None
        if not is_workbench:
            self.end()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the window's size, and the place of what is explained."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return False

    def _watch(self, about: QWidget | None) -> None:
        for part in self._watched:
            part.removeEventFilter(self)
        self._watched = []
        while about is not None and about is not self.parentWidget():
            about.installEventFilter(self)
            self._watched.append(about)
            about = about.parentWidget()

    def _on_next(self) -> None:
        if self._place_in_tour + 1 < len(self._stops):
            self._show(self._place_in_tour + 1)
        else:
            self.end()

    def _on_back(self) -> None:
        self._show(max(self._place_in_tour - 1, 0))

    def _show(self, place: int) -> None:
        self._place_in_tour = place
        stop = self._stops[place]
        self._title.setText(stop.title)
        self._text.setText(stop.text)
        self._count.setText(f"{place + 1} of {len(self._stops)}")
        self._back.setEnabled(place > 0)
        last = place + 1 == len(self._stops)
        self._next.setText("Done" if last else "Next")
        self._skip.setVisible(not last)
        self.setAccessibleName(f"Tour, {self._count.text()}: {stop.title}. {stop.text}")
        self._keyboard.take(self._next, (self, self._frame))
        _bring_to_front(stop.about)
        self._watch(stop.about)
        self._place()

    def _place(self) -> None:
        """Put the frame around the explained part, and the card beside it, inside the window."""
        window = self.parentWidget()
        if not self._stops or window is None:
            return
        about = self._stops[self._place_in_tour].about
        part = QRect(about.mapTo(window, QPoint()), about.size())
        self._frame.setGeometry(part.adjusted(-2, -2, 2, 2).intersected(window.rect()))
        width = min(theme.px(_WIDTH), window.width() - 2 * _GAP)
        self.setFixedWidth(width)
        height = self.heightForWidth(width)
        self.resize(width, height if height > 0 else self.sizeHint().height())
        room = window.rect().adjusted(_GAP, _GAP, -_GAP, -_GAP)
        right, below = part.right() + _GAP, part.bottom() + _GAP
        if right + width <= room.right():
            place = QPoint(right, part.top() + _GAP)
        elif part.left() - _GAP - width >= room.left():
            place = QPoint(part.left() - _GAP - width, part.top() + _GAP)
        elif below + self.height() <= room.bottom():
            place = QPoint(part.left() + _GAP, below)
        else:
            place = QPoint(part.center().x() - width // 2, part.top() - _GAP - self.height())
        place.setX(min(max(place.x(), room.left()), room.right() - width))
        place.setY(min(max(place.y(), room.top()), room.bottom() - self.height()))
        self.move(place)


def _bring_to_front(about: QWidget) -> None:
    """Show the pane that a part of the window is in: a saved layout may have closed it, or put another one before it."""
    part: QWidget | None = about
    while part is not None and not isinstance(part, QDockWidget):
        part = part.parentWidget()
    if part is not None:
        part.show()
        part.raise_()
