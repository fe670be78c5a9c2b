"""A script that raises uncaught exceptions in every kind of place and prints the messages that the window shows.

test_uncaught_exceptions.py runs it in a process of its own. It prints a JSON line for each message.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QListView, QPushButton, QWidget

from inspector_app import app
from inspector_app.app import Inspector
from inspector_app.presentation.message import Message
from runtime.support.worker_threads import run_in_thread


class Unpaintable(QWidget):
    """A widget that raises when it is painted."""

    def paintEvent(self, event: QPaintEvent) -> None:
        raise RuntimeError("in a paint event")


class Unreadable(QAbstractListModel):
    """A model that raises for every cell."""

    def rowCount(self, parent: Any = None) -> int:
        return 1

    def data(self, index: QModelIndex | Any, role: int = 0) -> Any:
        raise RuntimeError("in a model's data")


class Odd:
    """An object that raises when it is garbage-collected."""

    def __del__(self) -> None:
        raise RuntimeError("in a finalizer")


def fail(where: str) -> None:
    raise RuntimeError(where)


async def fail_later(where: str) -> None:
    fail(where)


class Driver(Inspector):
    """An Inspector that raises in every kind of place once it is open."""

    async def open(self, paths: list[str]) -> None:
        await super().open(paths)
        self.said: set[str] = set()
        self.messages.posted.connect(self.say)
        loop = asyncio.get_running_loop()
        self.tasks.spawn(fail_later("in a task"), "Something")
        loop.call_soon(fail, "in a callback of the loop")
        self.button = QPushButton(self.window)
        self.button.clicked.connect(lambda: fail("in a slot"))
        self.button.click()
        QTimer.singleShot(0, lambda: fail("in a timer"))
        threading.Thread(target=fail, args=("in a thread",)).start()
        self.window.show_page(self.window.workbench)
        QTimer.singleShot(0, self.show_what_cannot_be_painted)
        Odd()
        try:
            fail("logged by an agent")
        except RuntimeError:
            logging.getLogger("another.agent").exception("It went wrong")
        self.tasks.spawn(self.wait_in_thread(), "Something else")

    def show_what_cannot_be_painted(self) -> None:
        self.painted = Unpaintable(self.window)
        self.list = QListView(self.window)
        self.model = Unreadable()
        for widget in (self.painted, self.list):
            widget.setGeometry(0, 0, 100, 100)
            widget.show()
        QTimer.singleShot(0, lambda: self.list.setModel(self.model))

    async def wait_in_thread(self) -> None:
        await run_in_thread(fail, "in a worker thread")

    def say(self, message: Message) -> None:
        if message.severity == "error" and message.text not in self.said:
            self.said.add(message.text)
            traced = message.details is not None and "Traceback" in message.details and "RuntimeError" in message.details
            sys.stdout.write(json.dumps([message.text, traced]) + "\n")
            if len(self.said) == 10:  # the places of the test and the exception that an agent logged
                self.close()


app.Inspector = Driver  # type: ignore[misc]
sys.exit(app.run_window([], theme="dark", size=(1280, 800)))
