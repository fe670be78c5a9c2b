"""The tool bar: run control on the left, the state of the run on the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from inspector_app.presentation.values import visible
from inspector_app.shell.status_bar import RUN_ICONS
from inspector_app.widgets import theme
from inspector_app.widgets.announcements import announce
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.tooltips import describe_by


class RunBar(QToolBar):
    """The menu, the run control buttons, and the state of the run as text.

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
        spacer = QWidget(self)
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self._icon = IconLabel(14, self)
        self._icon_action = self.addWidget(self._icon)
        self._state, _ = self._label("run_state")
        self._detail, self._detail_action = self._label("run_detail")
        self._detail.setProperty("role", "dim")
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
        return self._detail.text()

    @property
    def state_text(self) -> str:
        """The state of the run, such as "held at 142"; empty while nothing runs or waits, which the status bar says."""
        return self._state.text()

    def show_state(self, phase: str, text: str, detail: str) -> None:
        """Show the state of the run.

        Args:
            phase: a key of `RUN_ICONS`.
            text: the state, such as "held at 142".
            detail: a dimmed text after it, such as "before tool call pay".
        """
        said = "" if phase == "idle" else text
        if (said, visible(detail)) != (self.state_text, self.detail_text) and self.isVisible():
            announce(self._state, f"{text} {visible(detail)}".rstrip())
        icon, role = RUN_ICONS[phase]
        self._icon_action.setVisible(bool(icon))
        self._icon.show_icon(icon, role)
        self._state.setText(said)
        self._set_property(self._state, "role", role)
        self._detail.setText(visible(detail))
        self._detail_action.setVisible(bool(detail))
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

    def _label(self, name: str) -> tuple[QLabel, QAction]:
        label = plain_label(name=name, parent=self)
        label.setContentsMargins(2, 0, 2, 0)  # the bar's margin is 2 pixels smaller than that of the panes
        return label, self.addWidget(label)

    @staticmethod
    def _set_property(widget: QWidget, name: str, value: object) -> None:
        if widget.property(name) == value:
            return
        widget.setProperty(name, value)
        theme.restyle(widget)
