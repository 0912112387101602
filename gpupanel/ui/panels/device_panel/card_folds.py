"""Which cards of the device list are open, and how much of a folded one is shown."""

from collections.abc import Callable, Mapping, Sequence

from gpupanel.ui.panels.device_panel.device_card import DeviceCard

_OPEN_AT_MOST = 3
"""With more GPUs than that their cards are folded where they would not all be seen."""


class CardFolds:
    """Cards are as a person left them; of the others as many are open as leave all seen.

    In lines all are folded, to one line each, but those that a person opens meanwhile.

    Args:
        is_room: Whether all cards are seen at once as they are now.
    """

    def __init__(self, is_room: Callable[[], bool]) -> None:
        self._is_room = is_room
        self._opened: dict[str, bool] = {}
        self._in_lines = False
        self._opened_in_lines: dict[str, bool] = {}

    @property
    def in_lines(self) -> bool:
        """Whether a folded card is one line."""
        return self._in_lines

    def set_in_lines(self, *, in_lines: bool) -> None:
        """Have all cards folded to a line each, or as they were before."""
        self._in_lines = in_lines
        self._opened_in_lines = {}

    def remembered(self) -> dict[str, bool]:
        """Which devices a person opened (``True``) or folded, by key; the others are not there."""
        return dict(self._opened)

    def remember(self, folds: Mapping[str, bool]) -> None:
        """Have devices open and folded as a person had them, those that are listed later, too."""
        self._opened = dict(folds)

    def take(self, key: str, *, is_open: bool) -> None:
        """A person opened or folded the card of that device."""
        (self._opened_in_lines if self._in_lines else self._opened)[key] = is_open

    @staticmethod
    def are_many(cards: Sequence[DeviceCard]) -> bool:
        """Whether some may have to be folded for all to be seen."""
        return sum(card.device.is_gpu for card in cards) > _OPEN_AT_MOST

    def fold(self, cards: Sequence[DeviceCard]) -> None:
        """Open and fold the cards."""
        for card in cards:
            card.setInLine(in_line=self._in_lines)
        if self._in_lines:
            self._open(cards, self._opened_in_lines, others=False)
            return
        self._open(cards, self._opened, others=True)
        if not self.are_many(cards) or self._is_room():
            return
        self._open(cards, self._opened, others=False)
        for card in cards:
            if card.device.key in self._opened:
                continue
            card.setOpen(is_open=True)
            if not self._is_room():
                card.setOpen(is_open=False)
                return

    def _open(
        self, cards: Sequence[DeviceCard], chosen: Mapping[str, bool], *, others: bool
    ) -> None:
        for card in cards:
            card.setOpen(is_open=chosen.get(card.device.key, others))
