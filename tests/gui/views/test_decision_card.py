from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from inspector_app.views.decision_card import Choice, DecisionCard


def test_many_choices_stand_in_lines_and_do_not_make_the_window_wider(qtbot) -> None:
    card = DecisionCard("card", "A decision")
    qtbot.addWidget(card)
    choices = [Choice(f"choice{number}", "Do something that takes a few words to say", "") for number in range(4)]
    for wanted in (choices, choices[:2]):
        card.show_decision("What now?", [], wanted, icon="code-branch")
        card.resize(card.sizeHint())
        shown = [button for button in card.findChildren(QPushButton) if button.parent() is card]
        assert [button.text() for button in shown] == [*(choice.text for choice in wanted), "Cancel"]
        assert card.minimumSizeHint().width() < 660
        qtbot.waitUntil(lambda: len({button.y() for button in shown}) > 1)  # noqa: B023
