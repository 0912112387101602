"""What is derived from a confusion matrix, class by class."""

from gpupanel.domain.value import Value


class ClassMetrics(Value):
    """How well one class is recognised.

    Attributes:
        examples: Of this class: its support.
        predicted: Examples that were taken for it, rightly or not.
        right: Those of them that are of this class.
    """

    name: str
    examples: int
    predicted: int
    right: int

    @property
    def precision(self) -> float | None:
        """Fraction of what was taken for it that is of it; ``None``: nothing was."""
        return self.right / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        """Fraction of its examples that were taken for it; ``None``: it has none."""
        return self.right / self.examples if self.examples else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; ``None``: the class occurs neither here nor there."""
        both = self.examples + self.predicted
        return 2 * self.right / both if both else None


class Mistake(Value):
    """What examples of a class were wrongly taken for most often.

    Attributes:
        names: Of the class; of several that are equally frequent the first two.
        others: How many more are equally frequent.
        count: Examples that were taken for it, or for each of them.
    """

    names: tuple[str, ...]
    others: int = 0
    count: int

    @property
    def text(self) -> str:
        """In a cell of a table: "dog (3)", "cat, dog (2 each)"."""
        if len(self.names) == 1:
            return f"{self.names[0]} ({self.count:,})"
        more = f" and {self.others:,} more" if self.others else ""
        return f"{', '.join(self.names)}{more} ({self.count:,} each)"


class LabelMetrics(Value):
    """How well each of several labels is recognised, of which an example may have any.

    Attributes:
        classes: The metrics of each label, in order.
    """

    classes: tuple[ClassMetrics, ...]

    def most_mistaken_for(self, index: int) -> Mistake | None:
        """Nothing: an example that lacks a label has not another one in its place."""
        del index
        return None
