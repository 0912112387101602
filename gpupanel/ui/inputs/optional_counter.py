"""A whole number that can be left out."""

from typing_extensions import override

from gpupanel.ui.inputs.counter import Counter


class OptionalCounter(Counter):
    """A number whose least, 0, stands for none."""

    @override
    def value(self) -> int | None:  # type: ignore[override]
        """The number, or ``None``."""
        return super().value() or None

    @override
    def setValue(self, value: int | None) -> None:
        """Shows a number, or that there is none, without telling anyone."""
        super().setValue(value or 0)
