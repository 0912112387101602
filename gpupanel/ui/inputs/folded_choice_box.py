"""A combo box whose rarely needed choices come up behind its last entry."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.ui.inputs.choice_box import ChoiceBox

_MORE = "..."


class FoldedChoiceBox(ChoiceBox):
    """Offers the rare choices once a person asks for them, or one of them is shown.

    They stand behind the others then, so that nothing moves. In the list the last entry opens it
    anew with all of them; passed by an arrow key it gives way to the first of them.

    Args:
        choices: All that there are.
        rare: The values of those that are folded.
        title: Of the entry that unfolds them.
        parent: Owns it.
    """

    def __init__(
        self,
        choices: Sequence[Choice],
        rare: Collection[str],
        title: str,
        parent: QWidget | None = None,
    ) -> None:
        self._all, self._rare = tuple(choices), frozenset(rare)
        self._title, self._is_folded = title, True
        super().__init__(self._listed(), parent)
        self._last = self.value()

    @override
    def setOffered(self, choices: Sequence[Choice]) -> None:
        self._all = tuple(choices)
        if self.value() in self._rare:
            self._is_folded = False
        super().setOffered(self._listed())

    @override
    def setValue(self, value: str, *, unoffered: str = "{} (not usable)") -> None:
        if self._is_folded and value in {choice.value for choice in self._folded()}:
            self._unfold()
        super().setValue(value, unoffered=unoffered)
        self._last = value

    @override
    def _report(self) -> None:
        if self.value() != _MORE:
            self._last = self.value()
            super()._report()
        elif self.is_from_list:
            self._unfold()
            QTimer.singleShot(0, self, self.showPopup)
        else:
            first = self._folded()[0].value
            self._unfold()
            self.setCurrentIndex(self.findData(first))

    def _unfold(self) -> None:
        self._is_folded = False
        super().setValue(self._last)
        super().setOffered(self._listed())

    def _folded(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self._all if choice.value in self._rare)

    def _listed(self) -> tuple[Choice, ...]:
        usual = tuple(choice for choice in self._all if choice.value not in self._rare)
        rare = self._folded()
        if not rare or not self._is_folded:
            return (*usual, *rare)
        named = ", ".join(choice.label for choice in rare)
        return (*usual, Choice(_MORE, self._title, f"Lists the rarely needed ones: {named}."))
