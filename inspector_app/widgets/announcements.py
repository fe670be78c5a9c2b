"""What screen readers say when something appears that has no focus."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Let screen readers say a text. Without one, this does nothing.

    Args:
        widget: where the text appears.
        text: the words, without markup.
        urgent: interrupts the current speech, as for an error.
    """
    event = QAccessibleAnnouncementEvent(widget, text)
    politeness = QAccessible.AnnouncementPoliteness.Assertive if urgent else QAccessible.AnnouncementPoliteness.Polite
    event.setPoliteness(politeness)
    QAccessible.updateAccessibility(event)
