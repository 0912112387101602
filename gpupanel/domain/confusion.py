"""What is derived from a confusion matrix, class by class."""

from typing import Self

from pydantic import model_validator

from gpupanel.domain.value import Value


class ClassFigures(Value):
    """How well one class is told from the others.

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


class ConfusionMatrix(Value):
    """How many examples of each class were taken for each class.

    Attributes:
        counts: Rows are the true classes, columns those that they were taken for.
        class_names: Of rows and columns.
    """

    counts: tuple[tuple[int, ...], ...]
    class_names: tuple[str, ...]

    @model_validator(mode="after")
    def _is_square(self) -> Self:
        size = len(self.class_names)
        if len(self.counts) != size or any(len(row) != size for row in self.counts):
            raise ValueError("a confusion matrix has a row and a column for each class")
        return self

    @property
    def examples(self) -> int:
        """Of all classes."""
        return sum(map(sum, self.counts))

    @property
    def accuracy(self) -> float | None:
        """Fraction that is right; ``None`` where there are no examples."""
        total = self.examples
        right = sum(row[index] for index, row in enumerate(self.counts))
        return right / total if total else None

    @property
    def classes(self) -> tuple[ClassFigures, ...]:
        """The figures of each class, in order."""
        predicted = [sum(column) for column in zip(*self.counts, strict=True)]
        return tuple(
            ClassFigures(name=name, examples=sum(row), predicted=predicted[index], right=row[index])
            for index, (name, row) in enumerate(zip(self.class_names, self.counts, strict=True))
        )

    def most_mistaken_for(self, index: int) -> tuple[str, int] | None:
        """The other class that most examples of a class were taken for, and how many.

        ``None``: all of them were taken rightly, or there are none.
        """
        others = [
            (count, name)
            for column, (count, name) in enumerate(
                zip(self.counts[index], self.class_names, strict=True)
            )
            if column != index and count
        ]
        if not others:
            return None
        count, name = max(others, key=lambda each: each[0])
        return name, count
