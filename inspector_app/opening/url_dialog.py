"""A dialog that asks for the URL and the password of a server. The password is neither stored nor displayed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.growing_dialog import GrowingDialog
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog

EXAMPLE = "http://127.0.0.1:8000, postgresql://user@host:5432/database"

SERVERS = (
    "A server of adk api_server, adk web or agent-inspector api_server shows the sessions of the user “user”."
    " Add ?user=NAME for another user. Of several apps, you choose one."
)


class UrlDialog(GrowingDialog):
    """A dialog for the URL of a database, or of a server of google-adk's. Open it with `open()`.

    Attributes:
        url, password: the two fields.
        open_button: enabled if the URL has a scheme.

    Signals:
        chosen (str, str): the user confirmed this URL and password; the password may be empty.

    Args:
        url: initial URL.
        problem: why the previous attempt failed; empty for none.
        wrong_url: whether it failed because the URL is malformed.
    """

    chosen = Signal(str, str)

    def __init__(self, url: str = "", problem: str = "", *, wrong_url: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "url_dialog", "Open a server", 540, 0)
        self.url = named(QLineEdit(url, placeholderText=EXAMPLE), "url_dialog_url", "URL of the server")
        self.password = named(QLineEdit(echoMode=QLineEdit.EchoMode.Password), "url_dialog_password", "Password or token")
        self.password.setPlaceholderText("if the server requires one")
        self.open_button = push_button(
            "Open",
            "url_dialog_open",
            self._on_open,
            icon=theme.icon("database", "on_accent"),
            does="Open the server",
            primary=True,
            default=True,
        )
        cancel = push_button("Cancel", "url_dialog_cancel", self.reject)
        self._problem = plain_label(problem, name="url_dialog_problem", role="bad", wraps=True)
        self._problem.setVisible(bool(problem))
        self.url.textChanged.connect(self._on_url_changed)
        self.url.textEdited.connect(self._on_url_edited)
        self._lay_out(cancel)
        self._on_url_changed(url)
        if wrong_url:
            self.url.setProperty("state", "wrong")
        (self.password if url and not wrong_url else self.url).setFocus()

    def _lay_out(self, cancel: QPushButton) -> None:
        form = QFormLayout()
        form.addRow("URL", self.url)
        form.addRow("Password or token", self.password)
        buttons = laid_out(QHBoxLayout(), 1, cancel, self.open_button)
        laid_out(
            QVBoxLayout(self),
            self._problem,
            form,
            plain_label(SERVERS, role="secondary", wraps=True),
            plain_label(
                "The password is not displayed or stored; it is forgotten when the window is closed.", role="secondary", wraps=True
            ),
            buttons,
            margins=(14, 14, 14, 12),
            spacing=10,
        )

    def _on_url_changed(self, text: str) -> None:
        self.open_button.setEnabled("://" in text)

    def _on_url_edited(self) -> None:
        self.url.setProperty("state", "")  # the user is correcting the URL
        theme.restyle(self.url)

    def _on_open(self) -> None:
        self.chosen.emit(self.url.text().strip(), self.password.text())
        self.accept()
