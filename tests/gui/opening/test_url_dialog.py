"""The dialog for a database on a server shows long error messages."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from inspector_app.opening.url_dialog import UrlDialog

PROBLEM = "Databases of foo:// are not supported. A server's URL begins with postgresql://. Open an SQLite file as a file."


def test_a_long_error_message_does_not_squeeze_the_fields(qtbot: QtBot) -> None:
    apart = []
    for problem in ("", PROBLEM):
        dialog = UrlDialog("foo://bar", problem, wrong_url=bool(problem))
        qtbot.addWidget(dialog)
        dialog.show()
        url, password = (dialog.findChild(QLineEdit, f"url_dialog_{name}") for name in ("url", "password"))
        apart.append(password.geometry().top() - url.geometry().bottom())
    assert apart[0] == apart[1]
