"""The preview of what a profile names: the question to the preview process, and its answer."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.example_form import ExampleForm
from gpupanel.domain.inference import ExamplesChosen, InferenceSettings
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.task import Task
from gpupanel.domain.trained_on import HeldOut
from gpupanel.domain.value import Value


class PreviewRequest(Value):
    """What to preview.

    Attributes:
        data: A path in it is absolute, or meant from the working directory.
        model: What names the file that holds the model, its code or its weights, likewise;
            ``None``: there is none.
        task: What is done with it: some data can be predicted on, but not be trained on.
        seed: Draws the examples that are shown, and the validation split.
        example_limit: How many are shown at most.
        inference: What a task that does not train does about classes that the model does not know.
    """

    data: DataSettings
    model: ModelSettings | None = None
    task: Task = "train"
    seed: int = 0
    example_limit: Annotated[int, Field(ge=0)] = 12
    inference: InferenceSettings = InferenceSettings()


class ExamplePreview(Value):
    """One example, small enough to be shown.

    Attributes:
        label: The name of its class, of all its labels, or its values as text.
        pixels_base64: 8-bit pixels, rows first, base64; empty when it is no image.
        width: Pixels a row; 0 when it is no image.
        height: Rows; 0 when it is no image.
        channels: 1 (greyscale) or 3 (RGB); 0 when it is no image.
        text: The first values, for an example that is no image.
    """

    label: str
    pixels_base64: str = ""
    width: int = 0
    height: int = 0
    channels: int = 0
    text: str = ""


class ColumnPreview(Value):
    """A column of a table.

    Attributes:
        holds: What: "number", "date", "category" or "text".
        use: What it is for.
        detail: What it becomes, or why it is left out.
        missing: Empty cells.
    """

    name: str
    holds: str
    use: Literal["target", "feature", "left_out"]
    detail: str = ""
    missing: int = 0


class TextsPreview(Value):
    """What texts are like, for whoever chooses their length and the vocabulary.

    Attributes:
        lengths: Texts by how many words they have: the most that a bar counts, and how many texts
            it has, in ascending order.
        cut_share: The part of the texts that has more words than count.
        known_share: The part of the words of the texts that are trained on that the vocabulary has.
        word_count: How many different words there are in these.
        known_count: How many of them the vocabulary has.
    """

    lengths: tuple[tuple[int, int], ...]
    cut_share: float
    known_share: float
    word_count: int
    known_count: int


class EvaluatedPreview(Value):
    """What an evaluation of a saved model would evaluate.

    Attributes:
        which: Of the examples.
        count: How many they are; 0: not known.
        held_out: How the model's training held them out, where that is why they are chosen.
    """

    which: ExamplesChosen
    count: int = 0
    held_out: HeldOut | None = None


class DataPreview(Value):
    """Some examples and what the whole data set is like.

    Attributes:
        validation_example_count: Of a validation set of its own.
        test_example_count: Of a test set of its own.
        training_count: Examples that are trained on; 0: not known.
        trained_count: Examples of an epoch, those that are repeated counted each time; 0: not
            known.
        held_out_count: Examples that validate after each epoch.
        feature_shape: Of one example; of several inputs how many numbers they are.
        form: What examples are made of.
        class_counts: Name of each class or label with its number of training examples, in their
            order; empty where values are predicted, or arrays.
        value_count: How many values an example are predicted, where these are no arrays.
        offers: What can be chosen, by the key of the setting.
        found: What is taken where nothing was chosen, by the key of the setting.
        augmented: The first examples as an epoch may change them; empty where none does.
        columns: Of a table; of many the first.
        texts: Of texts.
        image_sides: Height and width in the middle of some images before they are scaled; ``None``:
            none are.
        value_range: Least and greatest value of some examples; ``None``: not known.
        model_scales: Whether a saved model begins with a layer that brings what it is given into
            another range; ``None``: not known.
        model_divides_pixels: Whether that layer is a ``Rescaling`` for pixels from 0 to 255.
        model_expects: Between which values those lie that a saved model is made for, with much
            room; ``None``: nobody knows.
        mixing_layers: Names of layers of a saved model to train whose results depend on how a batch
            is divided.
        needs_download: The data is not on this machine yet; the start of a run downloads it.
        needs_start: Only a run shows what the data is like: it comes from Python code, which
            nothing but the start of a run carries out.
        evaluated: By a task that evaluates; ``None``: not known.
        problems: Why it cannot be used, or what is odd about it.
        model_problems: Why the file that holds the model or its code cannot be used.
    """

    example_count: int = 0
    validation_example_count: int = 0
    test_example_count: int = 0
    training_count: int = 0
    trained_count: int = 0
    held_out_count: int = 0
    feature_shape: tuple[int, ...] = ()
    form: ExampleForm = ExampleForm()
    target: Target = Target.CLASSES
    class_counts: tuple[tuple[str, int], ...] = ()
    value_count: int = 0
    offers: Mapping[str, tuple[Choice, ...]] = {}
    found: Mapping[str, int | str | tuple[str, ...]] = {}
    examples: tuple[ExamplePreview, ...] = ()
    augmented: tuple[ExamplePreview, ...] = ()
    columns: tuple[ColumnPreview, ...] = ()
    texts: TextsPreview | None = None
    image_sides: tuple[int, int] | None = None
    value_range: tuple[float, float] | None = None
    model_scales: bool | None = None
    model_divides_pixels: bool = False
    model_expects: tuple[float, float] | None = None
    mixing_layers: tuple[str, ...] = ()
    needs_download: bool = False
    needs_start: bool = False
    evaluated: EvaluatedPreview | None = None
    problems: tuple[Problem, ...] = ()
    model_problems: tuple[Problem, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether the data cannot be used as it is."""
        return any(problem.is_error for problem in self.problems)

    @property
    def output_count(self) -> int | None:
        """Outputs of a model of this data; ``None``: not known."""
        return len(self.class_counts) or self.value_count or None
