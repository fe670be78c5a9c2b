"""Panes are saved as pictures and printed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QTabBar, QWidget

from inspector_app.app import Inspector
from inspector_app.shell.pane_pictures import PanePictures
from tests.gui.window.driver import WindowDriver


def save(inspector: Inspector, file: Path) -> None:
    """Choose a file in the dialog."""
    dialog = inspector.window.findChild(QFileDialog, "save_picture")
    dialog.fileSelected.emit(str(file))
    dialog.reject()


def test_the_pane_with_the_focus_is_saved_in_each_format(driver: WindowDriver, orders: Inspector, tmp_path: Path) -> None:
    driver.run_message("40 boxes of A4 paper")
    pane = driver.bench.parts.sessions
    pane.tree.setFocus()
    for suffix in ("png", "svg", "pdf"):
        orders.window.commands.save_picture.trigger()
        save(orders, tmp_path / f"sessions.{suffix}")
    image = QImage(str(tmp_path / "sessions.png"))
    assert image.size() == pane.size() * image.devicePixelRatio() or image.size() == pane.size() * 2
    colours = {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert len(colours) > 5, "nothing was painted"
    assert QSvgRenderer(str(tmp_path / "sessions.svg")).viewBox().size() == pane.size()
    assert (tmp_path / "sessions.pdf").read_bytes().startswith(b"%PDF")
    assert f"The picture is in {tmp_path / 'sessions.pdf'}" in driver.log_text()
    orders.window.commands.save_picture.trigger()
    save(orders, tmp_path / "missing" / "sessions.pdf")
    assert "could not be written" in driver.log_text()


def test_the_menu_of_a_tab_saves_and_prints_its_pane(driver: WindowDriver, orders: Inspector, tmp_path: Path) -> None:
    tabs = next(bar for bar in driver.bench.findChildren(QTabBar) if "Log" in [bar.tabText(index) for index in range(bar.count())])
    log = [tabs.tabText(index) for index in range(tabs.count())].index("Log")
    place = tabs.tabRect(log).center()
    QApplication.sendEvent(tabs, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, tabs.mapToGlobal(place)))
    menu = next(menu for menu in driver.bench.findChildren(QMenu) if menu.isVisible())
    save_picture, print_pane = menu.actions()
    assert [save_picture.text(), print_pane.text()] == ["Save the pane as a picture…", "Print the pane…"]
    save_picture.trigger()
    dialog = orders.window.findChild(QFileDialog, "save_picture")
    assert Path(dialog.selectedFiles()[0]).name == "log.png"
    dialog.reject()
    print_pane.trigger()
    dialog = orders.window.findChild(QPrintDialog, "print_pane")
    assert dialog.isVisible()
    dialog.reject()
    menu.close()
    driver.qtbot.waitUntil(lambda: orders.window.findChild(QWidget, "print_pane") is None)


def test_a_pane_is_printed_on_one_page(driver: WindowDriver, orders: Inspector, tmp_path: Path) -> None:
    driver.run_message("40 boxes of A4 paper")
    title, pane = orders.window.findChild(PanePictures).pane_of(QApplication.focusWidget())
    assert title == "Events" and pane.isAncestorOf(driver.bench.parts.stream.table)
    printer = QPrinter()
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "events.pdf"))
    orders.window.findChild(PanePictures).print_on(printer, pane)
    printed = (tmp_path / "events.pdf").read_bytes()
    assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") == 1


def test_a_picture_has_the_rows_whose_painting_a_live_stream_postpones(driver: WindowDriver, orders: Inspector, tmp_path: Path) -> None:
    driver.run_message("40 boxes of A4 paper")
    table = driver.bench.parts.stream.table
    table.setFocus()
    pictures = []
    for name in ("calm.png", "live.png"):
        orders.window.commands.save_picture.trigger()
        table.paint_next()
        if name == "live.png":
            table.repaint()
            table.paint_later()
            assert not table.viewport().updatesEnabled()
        save(orders, tmp_path / name)
        pictures.append(QImage(str(tmp_path / name)))
    assert pictures[0] == pictures[1]
