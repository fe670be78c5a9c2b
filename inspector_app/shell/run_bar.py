"""The tool bar: run control on the left, the state of the run in a pill on the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from inspector_app.presentation.signs import SIGNS
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.announcements import announce
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import describe_by, set_tooltip

# State of the run, or of the session → icon and colour role.
RUN_ICONS = {
    **{word: (sign.icon, sign.role) for word, sign in SIGNS.items()},
    "idle": ("", "dim"),
    "watching": ("eye", "ok"),
    "stopping": ("stop", "dim"),
}


class RunBar(QToolBar):
    """The menu, the run control buttons, and the state of the run: the only place that says it in words.

    Args:
        buttons: the actions, each with whether its text is displayed; None for a line. The first one is highlighted.
        menu: the menu behind the first button.
    """

    def __init__(self, buttons: Sequence[tuple[QAction, bool] | None], menu: QMenu, parent: QWidget | None = None) -> None:
        super().__init__("Run control", parent)
        self.setObjectName("run_bar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        theme.keep_icon_size(self, 14)
        self._add_menu(menu)
        for button in buttons:
            if button is None:
                self.addSeparator()
            else:
                self._add(*button)
        self._pill = RunPill(self)
        self.addWidget(self._pill)
        self._run = self.actions()[1]  # the first one is the menu's
        self._buttons[self._run.objectName()].setProperty("primary", True)
        self._run.changed.connect(self._paint_primary)  # after the button took the action's icon
        self._paint_primary()
        self.show_state("idle", "idle", "")

    def button(self, action_name: str) -> QToolButton:
        """Return the button of an action, by the action's objectName."""
        return self._buttons[action_name]

    @property
    def detail_text(self) -> str:
        """The text after the state, such as "before tool call pay"."""
        return self._pill.detail.text()

    @property
    def state_text(self) -> str:
        """The state of the run, such as "held at 142"."""
        return self._pill.state.text()

    @property
    def explained(self) -> str:
        """Why the run is in this state; the pill's tooltip."""
        return self._pill.accessibleDescription()

    def show_state(self, phase: str, text: str, detail: str, explained: str = "") -> None:
        """Show the state of the run.

        Args:
            phase: a key of `RUN_ICONS`.
            text: the state, such as "held at 142".
            detail: a text after it, such as "before tool call pay".
            explained: why, for the tooltip.
        """
        if (text, visible(detail)) != (self.state_text, self.detail_text) and self.isVisible():
            announce(self._pill, f"{text} {visible(detail)}".rstrip())
        self._pill.show_state(phase, text, visible(detail), explained)
        self._run.setText("Continue" if phase == "held" else "Run")
        self._buttons[self._run.objectName()].setAccessibleName(self._run.text())

    def _paint_primary(self) -> None:
        """Give the highlighted button an icon that contrasts with its background; menus show the action's icon."""
        self._buttons[self._run.objectName()].setIcon(theme.icon("play", "on_accent"))

    def _add_menu(self, menu: QMenu) -> None:
        self._buttons: dict[str, QToolButton] = {}
        button = QToolButton(self)
        button.setObjectName("menu_button")
        button.setAccessibleName("Menu")
        button.setToolTip("Menu (Alt+M)")
        button.setIcon(theme.icon("bars", "dim"))
        theme.keep_icon_size(button, 16)
        button.setShortcut("Alt+M")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(menu)
        self.addWidget(button)

    def _add(self, action: QAction, with_text: bool) -> None:
        self.addAction(action)
        button = self.widgetForAction(action)
        assert isinstance(button, QToolButton)
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if with_text else Qt.ToolButtonStyle.ToolButtonIconOnly
        button.setToolButtonStyle(style)
        button.setObjectName(f"button_{action.objectName()}")
        button.setAccessibleName(action.text())
        describe_by(button, action)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._buttons[action.objectName()] = button


class RunPill(QWidget):
    """The state of the run at the right end of its place, elided where that is narrow; nothing while the agent is idle.

    Attributes:
        state, detail: the labels.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._frame = named(QWidget(self), "run_pill", "State of the run")
        self._frame.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = IconLabel(13, self._frame)
        self.state = plain_label(name="run_state", parent=self._frame)
        self.detail = named(ElidedLabel(), "run_detail")
        self.detail.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        laid_out(QHBoxLayout(self._frame), self._icon, self.state, self.detail, margins=(10, 3, 12, 3), spacing=6)
        laid_out(
            QHBoxLayout(self), 1, self._frame, margins=(12, 0, 2, 0), spacing=0
        )  # the bar's margin is 2 pixels smaller than that of the panes

    def show_state(self, phase: str, text: str, detail: str, explained: str) -> None:
        """See `RunBar.show_state`."""
        icon, role = RUN_ICONS[phase]
        self._frame.setVisible(phase != "idle")
        self._icon.show_icon(icon, role)
        self.state.setText(text)
        for part in (self._frame, self.state):
            if part.property("role") != role:
                part.setProperty("role", role)
                theme.restyle(part)
        self.detail.setText(detail)
        self.detail.setVisible(bool(detail))
        whole = "\n".join(filter(None, (f"{text} {detail}".rstrip(), explained)))
        for part in (self._frame, self.detail):
            set_tooltip(part, whole)
        self.setAccessibleDescription(explained)
