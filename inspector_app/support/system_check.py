"""System requirements of Qt that no wheel contains: a few shared libraries and one font.

This module does not import Qt, so that a machine without these libraries gets a sentence instead of a loader error or an abort. The list is
that of a bare Debian 12. The Makefile runs `python -m inspector_app.support.system_check`: as root on Debian or Ubuntu it installs the
missing packages, otherwise it prints the command to run and fails.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence

FONT_PACKAGE = "fonts-dejavu-core"

# Shared library → Debian package; needed to import PySide6's widgets.
OFF_SCREEN_LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
}

# The same for a window under X11; without them Qt aborts the process.
X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
}


def needs_x11(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether Qt will draw through X11."""
    platform = environment.get("QT_QPA_PLATFORM", "")
    if platform:
        return platform.startswith("xcb")
    return bool(environment.get("DISPLAY")) and not environment.get("WAYLAND_DISPLAY")


def has_display(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a window can be shown. `DISPLAY` may name an X server that no longer runs, so the server is asked."""
    platform = environment.get("QT_QPA_PLATFORM", "")
    if platform:
        return platform.split(":")[0] not in {"offscreen", "minimal", "vnc"}
    if not sys.platform.startswith("linux") or environment.get("WAYLAND_DISPLAY"):
        return True
    return bool(environment.get("DISPLAY")) and _x_server_answers(environment["DISPLAY"])


def missing_packages(*, x11: bool) -> list[str]:
    """Return the Debian packages that are missing, found by loading each library.

    Args:
        x11: include the libraries for a window under X11.
    """
    if not sys.platform.startswith("linux"):
        return []
    libraries = OFF_SCREEN_LIBRARIES | (X11_LIBRARIES if x11 else {})
    missing = [package for library, package in libraries.items() if not _loads(library)]
    return missing if _has_font() else [*missing, FONT_PACKAGE]


def install_command(packages: Sequence[str], *, as_root: bool) -> str:
    """Return the shell command that installs these Debian packages."""
    names = " ".join(packages)
    if as_root:
        return f"apt-get update && apt-get install -y --no-install-recommends {names}"
    return f"sudo apt-get update && sudo apt-get install -y {names}"


def what_to_do(packages: Sequence[str]) -> str:
    """Return a sentence with the command to run on a machine that lacks these packages."""
    if shutil.which("apt-get"):
        command = install_command(packages, as_root=False)
        return f"The window needs libraries that are not installed. Run this, then try again:\n\n    {command}\n"
    return (
        "The window needs libraries that are not installed. Install what your system calls these Debian packages, then try again:\n\n"
        f"    {' '.join(packages)}\n"
    )


def main() -> int:
    """Check Qt's system requirements, and install them as root on Debian or Ubuntu.

    Returns:
        0 if nothing is missing, 1 if packages have to be installed manually.
    """
    x11 = needs_x11()
    packages = missing_packages(x11=x11)
    if packages and shutil.which("apt-get") and os.geteuid() == 0:
        sys.stderr.write(f"Installing the libraries that Qt needs: {' '.join(packages)}\n")
        quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(install_command(packages, as_root=True), shell=True, env=quietly, stdout=subprocess.DEVNULL, check=False)
        packages = missing_packages(x11=x11)
    if packages:
        sys.stderr.write(what_to_do(packages))
        return 1
    return 0


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _has_font() -> bool:
    """Ask fontconfig, as Qt does. Without a font, every letter is drawn as a box."""
    try:
        fontconfig = ctypes.CDLL("libfontconfig.so.1")
    except OSError:
        return False
    fontconfig.FcConfigGetFonts.restype = ctypes.POINTER(ctypes.c_int)
    count_first = fontconfig.FcConfigGetFonts(None, 0)  # an FcFontSet begins with its length
    return bool(count_first) and count_first[0] > 0


def _x_server_answers(display: str) -> bool:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # unknown; the library check reports what is missing
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


if __name__ == "__main__":
    sys.exit(main())
