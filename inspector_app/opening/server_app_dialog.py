"""The dialog that asks for an app of a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QInputDialog, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import named


def ask_for_app(window: QWidget, server: str, apps: Sequence[str], used: str, chosen: Callable[[str], object]) -> None:
    """Ask which app of a server the next session is of.

    Args:
        window: the dialog belongs to it.
        server: its title.
        apps: the names of its apps.
        used: the app that is used now; empty for none.
        chosen: receives the name of the app.
    """
    dialog = named(QInputDialog(window), "server_app")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle("App of the server")
    dialog.setLabelText(f"{server} runs {len(apps):,} apps. Begin the next session with:")
    dialog.setOption(QInputDialog.InputDialogOption.UseListViewForComboBoxItems)
    shown = {visible(app): app for app in apps}
    dialog.setComboBoxItems(list(shown))
    dialog.setTextValue(visible(used))
    dialog.setOkButtonText("Choose")
    choose = dialog.findChildren(QDialogButtonBox)[0].button(QDialogButtonBox.StandardButton.Ok)
    choose.setProperty("primary", True)
    theme.restyle(choose)
    dialog.textValueSelected.connect(lambda text: chosen(shown[text]))
    dialog.open()
