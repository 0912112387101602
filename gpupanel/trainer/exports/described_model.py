"""What the JSON file beside an exported model says, as values."""

from typing import Literal

from gpupanel.domain.data import Target
from gpupanel.domain.images_data import JpegDecoding
from gpupanel.domain.model_export import ModelFormat
from gpupanel.domain.value import Value
from gpupanel.trainer.datasets.tables.recipe import FeatureColumn


class CsvForm(Value):
    """How text files are written, as a person said it; what nobody said is found in each file.

    Attributes:
        decimal: That of the file which the model was trained on.
        has_names: The first line names the columns.
        has_quotes: A cell may stand in quotation marks.
        skipped: Lines before the table.
    """

    decimal: str = "."
    delimiter: str | None = None
    encoding: str | None = None
    has_names: bool | None = None
    has_quotes: bool | None = None
    skipped: int | None = None


class ImageInput(Value):
    """Images.

    Attributes:
        height: In pixels.
        width: In pixels.
        channels: 3 of RGB, 1 of grey.
        greatest: What white is; black is 0.
        white_value: What white is in the files of images; ``None``: the greatest that 8 or 16 bits
            have.
        decode: How JPEGs that are larger are unpacked; ``None``: exactly.
        edges: Of grey: how bright the edges of most training examples are, from 0 (black) to 1
            (white): no darker, and no brighter. ``None``: not known.
        swaps: Light and dark of a picture with another edge are swapped unless somebody says
            otherwise: the training examples were no pictures in files, which are given as those
            were.
    """

    height: int
    width: int
    channels: int
    greatest: float
    white_value: int | None = None
    decode: JpegDecoding | None = None
    edges: tuple[float, float] | None = None
    swaps: bool = False


class ArrayInput(Value):
    """One of several inputs.

    Attributes:
        name: Its key in the dictionary that the model takes.
        shape: Of one example, without the batch axis.
        dtype: Of its numbers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str


class ModelInput(Value):
    """What a model takes.

    Attributes:
        kind: What an example is made of: an image, a row of a table, words of a text; it is an
            array as it is; or several of these, by their names.
        shape: Of one example, without the batch axis; of several inputs empty.
        dtype: Of its numbers; likewise.
        means: What they are, in words.
        inputs: Of several.
        image: Of images.
        columns: Of rows: in the order of their numbers.
        empty: Of rows: words that mean that a cell of numbers holds nothing.
        empty_names: Of rows: words that mean that a cell of categories holds nothing.
        words: Of texts: the first has the number 2; 0 fills up, 1 is any other word.
        length: Of texts: how many words count.
        column: Of texts: that of a table which holds them; empty: they were files.
        csv: Of rows and texts.
    """

    kind: Literal["image", "row", "words", "array", "inputs"]
    shape: tuple[int, ...] = ()
    dtype: str = ""
    means: str
    inputs: tuple[ArrayInput, ...] = ()
    image: ImageInput | None = None
    columns: tuple[FeatureColumn, ...] = ()
    empty: tuple[str, ...] = ()
    empty_names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    length: int = 0
    column: str = ""
    csv: CsvForm | None = None


class ModelOutput(Value):
    """A row of numbers that a model gives.

    Attributes:
        kind: One class, several labels at once, or values.
        numbers: What its numbers are; of classes one number is of the second of two.
        names: Of the classes, labels or values.
        means: What they are, in words.
    """

    kind: Target
    numbers: Literal["probabilities", "logits", "values"]
    names: tuple[str, ...]
    means: str


class ArrayOutput(Value):
    """An array that a model gives for each example.

    Attributes:
        name: Its key in the dictionary that the model gives; of an only output that of its layer.
        kind: What each place of it is; ``unknown``: only a person says it.
        numbers: Likewise; of classes the last axis has the probabilities.
        shape: Of one example, without the batch axis.
        names: Of the classes.
        means: What it is, in words.
    """

    name: str
    kind: Target | Literal["unknown"]
    numbers: Literal["probabilities", "values", "unknown"]
    shape: tuple[int, ...]
    names: tuple[str, ...] = ()
    means: str


class ModelArrays(Value):
    """All that a model gives whose outputs are no row of numbers.

    Attributes:
        outputs: In their order.
    """

    kind: Literal["arrays"] = "arrays"
    outputs: tuple[ArrayOutput, ...]


class ModelDescription(Value):
    """All of the file.

    Attributes:
        written_by: Versions.
    """

    schema_version: Literal[1] = 1
    format: ModelFormat
    quantization: str | None = None
    written_by: dict[str, str]
    input: ModelInput
    output: ModelOutput | ModelArrays
