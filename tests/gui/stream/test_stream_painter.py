"""The stream's painter elides texts that do not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from inspector_app.stream.stream_painter import _LETTERS, _Letters


@pytest.fixture(scope="module")
def letters(qapp: QApplication) -> _Letters:
    return _Letters(QApplication.font(), 27)


ANY = st.text(st.sampled_from(_LETTERS + "äß×Ωж"), min_size=1, max_size=300)
PLAIN = st.text(st.sampled_from(_LETTERS), min_size=1, max_size=300)


@given(text=ANY, width=st.integers(30, 900))
def test_a_text_is_elided_only_where_it_does_not_fit(letters: _Letters, text: str, width: int) -> None:
    fitted = letters.fitted(text, width)
    metrics = QFontMetricsF(letters.font)
    if fitted == text:
        assert letters.width(text) <= width
    else:
        assert fitted.endswith("…")
        assert text.startswith(fitted[:-1])
        assert metrics.horizontalAdvance(fitted) <= width + 1
        assert letters.width(text) > width


@given(text=PLAIN, width=st.integers(30, 900))
def test_plain_letters_are_elided_as_qt_elides_them(letters: _Letters, text: str, width: int) -> None:
    elided = QFontMetricsF(letters.font).elidedText(text, Qt.TextElideMode.ElideRight, width)
    assert abs(len(letters.fitted(text, width)) - len(elided)) <= 2


def test_a_very_long_text_is_elided(letters: _Letters) -> None:
    assert len(letters.fitted("i" * 1_000_000, 400)) < 400
    assert len(letters.fitted("字" * 1_000_000, 400)) < 400
