from __future__ import annotations

import pytest

from inspector_app.support import system_check


@pytest.mark.parametrize(
    ("environment", "needed"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, False),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ({"QT_QPA_PLATFORM": "xcb"}, True),
        ({}, False),
    ],
)
def test_x11_is_used_unless_wayland_or_another_platform_is_named(environment: dict[str, str], needed: bool) -> None:
    assert system_check.needs_x11(environment) is needed


@pytest.mark.parametrize(
    ("environment", "display"),
    [
        ({}, False),
        ({"DISPLAY": ":4711"}, False),  # named, but no server answers
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ({"QT_QPA_PLATFORM": "xcb"}, True),
    ],
)
def test_a_display_counts_only_if_it_answers(environment: dict[str, str], display: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert system_check.has_display(environment) is display


def test_this_machine_has_all_packages() -> None:
    assert system_check.missing_packages(x11=False) == []


def test_missing_libraries_are_found_by_loading_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_check, "OFF_SCREEN_LIBRARIES", {"libnothing-of-this-name.so.1": "libnothing1"})
    monkeypatch.setattr(system_check, "X11_LIBRARIES", {"libnothing-else.so.2": "libnothing-else2"})
    assert system_check.missing_packages(x11=False) == ["libnothing1"]
    assert system_check.missing_packages(x11=True) == ["libnothing1", "libnothing-else2"]


def test_a_machine_without_apt_gets_the_package_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_check.shutil, "which", lambda _: None)
    assert "    libgl1 libegl1\n" in system_check.what_to_do(["libgl1", "libegl1"])


def test_a_user_who_is_not_root_gets_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(system_check, "missing_packages", lambda x11: ["libgl1"])
    monkeypatch.setattr(system_check.shutil, "which", lambda _: "/usr/bin/apt-get")
    monkeypatch.setattr(system_check.os, "geteuid", lambda: 1000)
    assert system_check.main() == 1
    assert "    sudo apt-get update && sudo apt-get install -y libgl1\n" in capsys.readouterr().err
