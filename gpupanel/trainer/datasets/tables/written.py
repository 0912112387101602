"""How the cells of a column are written, as a model's recipe keeps it."""

from gpupanel.domain.value import Value
from gpupanel.domain.written_numbers import THOUSANDS_MARKS, NumberForm


class CellForm(Value):
    """How the cells of a column are written.

    Attributes:
        decimal: What stands before the decimals of a number.
        thousands: Every character that may stand between groups of its digits.
        unit: The sign of a currency, in capital letters, or of percent.
        date_order: Day, month and year of a date as they follow each other, such as "dmy"; empty:
            it has the year first, a week or the name of a month.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    date_order: str = ""

    @property
    def form(self) -> NumberForm:
        """How the numbers of a column are written."""
        return NumberForm(self.decimal, self.thousands, self.unit)

    def with_decimal(self, decimal: str | None) -> "CellForm":
        """The same with another mark before the decimals, where a person chose one."""
        if decimal in (None, self.decimal):
            return self
        others = THOUSANDS_MARKS.replace(str(decimal), "")
        return self.model_copy(update={"decimal": decimal, "thousands": others})
