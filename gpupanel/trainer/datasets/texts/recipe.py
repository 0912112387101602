"""How examples were made of texts, as it is kept with the model."""

from typing import Literal

from gpupanel.domain.data_source import Target
from gpupanel.domain.value import Value
from gpupanel.trainer.datasets.tables.imported import Kind
from gpupanel.trainer.datasets.tables.targets import is_name_of_number


class TextRecipe(Value):
    """How examples are made of texts, as the model's file says it.

    Attributes:
        words: Of the vocabulary, from the first word on.
        length: How many words of a text count.
        text: The column of the texts; empty of folders.
        targets: The columns that were predicted; none of folders.
        predicts: What they are.
        class_names: In the order of the class numbers, or of the labels; none for values.
        empty_words: As they were chosen, see :mod:`gpupanel.domain.empty_words`.
    """

    schema_version: Literal[1] = 1
    words: tuple[str, ...]
    length: int
    text: str = ""
    targets: tuple[str, ...] = ()
    predicts: Target
    class_names: tuple[str, ...] = ()
    empty_words: tuple[str, ...] | None = None

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each column that was predicted held, where the names of the classes show it."""
        if self.predicts is not Target.CLASSES:
            return {}
        are_numbers = all(map(is_name_of_number, self.class_names))
        return dict.fromkeys(self.targets, "class" if are_numbers else "category")
