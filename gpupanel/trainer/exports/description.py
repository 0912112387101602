"""What an exported model takes and gives, as the JSON file beside it says it.

``predict.py``, which stands beside it, too, goes by this file alone: names that a stranger gave to
classes and columns are data there, and nowhere code.
"""

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from gpupanel import __version__
from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.data import DataSettings, Scaling, Target
from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.model_export import ModelExportRequest, ModelFormat
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.script_parts import needed_of, part_text
from gpupanel.domain.table_data import HeaderLine, Quoting
from gpupanel.domain.trained_on import TrainedOn
from gpupanel.files.whole_files import write_whole
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.images.recipe import ImageRecipe, image_recipe_in
from gpupanel.trainer.datasets.source import Reading, no_download, source_of
from gpupanel.trainer.datasets.tables.empty_cells import known_words
from gpupanel.trainer.datasets.tables.recipe import TableRecipe
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.exports.described_model import (
    CsvForm,
    ImageInput,
    ModelArrays,
    ModelDescription,
    ModelInput,
    ModelOutput,
)
from gpupanel.trainer.inference.meaning import read_outputs
from gpupanel.trainer.models.model_file import recipe_in, trained_on_in
from gpupanel.trainer.parts import text_layout
from gpupanel.trainer.parts.output_meaning import Activation, Meaning

if TYPE_CHECKING:
    from gpupanel.trainer.inference.replicas import OutputLayer
    from gpupanel.trainer.models.named_model import Named, NamedModel

_SCRIPT = Path(__file__).with_name("predict.py")
_TEXT_LAYOUT = Path(text_layout.__file__)
_LOGITS = (Meaning.LOGITS, Meaning.LABEL_LOGITS, Meaning.BINARY_LOGIT)
_COLOURS = {1: "Grey", 3: "RGB"}
_SEVERAL = (
    "A dictionary of arrays by these names, the numbers as the training data has them. What they "
    "are scaled to is inside the model."
)


def describe(
    request: ModelExportRequest,
    data: DataSet | None,
    model: "NamedModel",
    examples: "Named",
    outputs: "Named",
    ending: "OutputLayer | None",
) -> ModelDescription:
    """What the model takes and gives.

    Args:
        request: What is exported.
        data: Its examples, where they are here.
        model: What is exported.
        examples: Some that it takes.
        outputs: What it gives for these.
        ending: Its last layer, where it gives a row of numbers; else ``None``.

    Raises:
        ProblemError: The model's file cannot be read.
    """
    import keras
    import tensorflow as tf

    from gpupanel.trainer.exports.arrays import arrays_given, taken_by

    kept, trained_on = recipe_in(request.model), trained_on_in(request.model)
    recipe = _recipe(kept)
    quantization = request.quantization
    taken = taken_by(model, examples)
    if model.takes_one:
        (only,) = taken
        more = image_recipe_in(kept), trained_on
        takes = _input(request.data, data, recipe, only.shape, only.dtype, *more)
    else:
        takes = ModelInput(kind="inputs", means=_SEVERAL, inputs=taken)
    if ending is None:
        gives: ModelOutput | ModelArrays = arrays_given(trained_on, outputs)
    else:
        (numbers,) = outputs.values()
        row = np.asarray(numbers, np.float32).reshape(len(numbers), ending.outputs)
        gives = _output(request, data, recipe, trained_on, ending, row)
    return ModelDescription(
        format=request.model_format,
        quantization=None if quantization is None else quantization.value,
        written_by={
            "gpupanel": __version__,
            # Not pip's notes: the package may be tensorflow-cpu, or one of a night.
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
        },
        input=takes,
        output=gives,
    )


def write_beside(request: ModelExportRequest, description: ModelDescription) -> None:
    """Write the JSON file and ``predict.py``: into a SavedModel's folder, beside other files.

    Raises:
        OSError: They cannot be written.
    """
    output = Path(request.output)
    is_folder = request.model_format is ModelFormat.SAVEDMODEL
    folder = output if is_folder else output.parent
    name = "model.json" if is_folder else f"{output.name}.json"
    document = description.model_dump(mode="json", exclude_none=True)
    document["input"] = {key: said for key, said in document["input"].items() if said}
    # As ASCII: a name of a stranger's that would act on a terminal does not when it is printed.
    write_whole(folder / name, f"{json.dumps(document, indent=1)}\n")
    texts = {_SCRIPT: script_text()}
    if description.input.kind in ("row", "words"):
        texts[_TEXT_LAYOUT] = _TEXT_LAYOUT.read_text(encoding="utf-8")
    for script, text in texts.items():
        write_whole(folder / script.name, text.encode())


def script_text() -> str:
    """``predict.py`` with the functions that it takes from gpupanel: it runs without."""
    text = _SCRIPT.read_text(encoding="utf-8")
    lines = text.splitlines()
    imports = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("gpupanel.")
    ]
    first, end = imports[0].lineno - 1, imports[-1].end_lineno
    whole = "written_numbers", "written_dates", "image_pixels", "text_files", "named_arrays"
    shared = [*map(part_text, whole)]
    shared.append(needed_of(part_text("image_edges"), ["edge_means", "is_ground_unlike"]))
    shared.append(needed_of(part_text("table_cells"), ["column_names"]))
    return "\n".join([*lines[:first], "\n\n\n".join(shared), *lines[end:], ""])


def _recipe(text: str) -> TableRecipe | TextRecipe | None:
    for kind in (TableRecipe, TextRecipe):
        try:
            return kind.model_validate_json(text)
        except ValidationError:
            continue
    return None


def _input(
    settings: DataSettings | None,
    data: DataSet | None,
    recipe: TableRecipe | TextRecipe | None,
    shape: tuple[int, ...],
    dtype: str,
    images: ImageRecipe | None = None,
    trained_on: TrainedOn | None = None,
) -> ModelInput:
    if isinstance(recipe, TableRecipe):
        return ModelInput(
            kind="row",
            shape=shape,
            dtype=dtype,
            means="The columns in their order: a number as it is, a date as days since first_day "
            "(days since 1970), where a cell is empty the mean; of categories a number for each "
            "name, 1 where the cell is that name, else 0. Standardising is inside the model.",
            columns=recipe.features,
            empty=tuple(sorted(empty_words(recipe.empty_words).in_numbers)),
            empty_names=known_words(
                recipe.empty_words, (), [each.categories for each in recipe.features]
            ),
            csv=_csv_form(settings, recipe),
        )
    if isinstance(recipe, TextRecipe):
        return ModelInput(
            kind="words",
            shape=shape,
            dtype=dtype,
            means=f"The first {recipe.length:,} words of a text as numbers: the letters A to Z are "
            "lowercased, ASCII punctuation is left out, white space divides. The first word of "
            "the vocabulary is 2; 1 is every other word, 0 fills up; a text without words is a 1.",
            words=recipe.words,
            length=recipe.length,
            column=recipe.text,
            csv=_csv_form(settings, recipe),
        )
    image = _image(settings, data, images or ImageRecipe(), shape, trained_on)
    if image is None:
        return ModelInput(
            kind="array",
            shape=shape,
            dtype=dtype,
            means="The numbers as the training data has them. What they are scaled to is inside "
            "the model.",
        )
    return ModelInput(
        kind="image",
        shape=shape,
        dtype=dtype,
        means=f"{_COLOURS[image.channels]} pixels from 0 (black) to {image.greatest:g} (white), "
        f"{image.height} rows of {image.width}. What they are scaled to is inside the model.",
        image=image,
    )


def _image(
    settings: DataSettings | None,
    data: DataSet | None,
    images: ImageRecipe,
    taken: tuple[int, ...],
    trained_on: TrainedOn | None,
) -> ImageInput | None:
    """How images are given; ``None``: the examples are none, or of a range that nobody knows."""
    scaling = data.scaling if data is not None else settings and settings.scaling
    shape = taken if data is None else data.training.feature_shape
    if len(shape) == 2:
        shape = (*shape, 1)
    if scaling is not Scaling.DIVIDE or len(shape) != 3 or shape[-1] not in _COLOURS:
        return None
    known = 255.0 if settings is None else float(settings.greatest)
    greatest = known if data is None else data.greatest
    height, width, channels = shape
    edges = _edges(settings, trained_on) if channels == 1 else None
    return ImageInput(
        height=height,
        width=width,
        channels=channels,
        greatest=greatest,
        white_value=images.white_value,
        decode=images.decode,
        edges=edges,
        swaps=edges is not None and (settings is None or settings.asked_as is AskedKind.ARRAY),
    )


def _edges(
    settings: DataSettings | None, trained_on: TrainedOn | None
) -> tuple[float, float] | None:
    """Those of the data as it is known, or of the examples that the model's file tells about."""
    if settings is not None and settings.picture is not None:
        return settings.picture.edges
    return None if trained_on is None else trained_on.edges


def _csv_form(settings: DataSettings | None, recipe: TableRecipe | TextRecipe) -> CsvForm:
    """How a person says that text files are written; the decimals of the data, where it is here."""
    if settings is None:
        return CsvForm()
    reading = Reading(no_download, recipe=recipe.model_dump_json(), is_preview=True)
    try:
        found = source_of(settings).find(settings, reading).found
    except (OSError, ProblemError):
        found = {}
    chosen = settings.model_dump()
    header, quoting = chosen.get("header"), chosen.get("quoting")
    return CsvForm(
        decimal=str(found.get("decimal", chosen.get("decimal") or ".")),
        delimiter=chosen.get("delimiter"),
        encoding=chosen.get("encoding"),
        has_names=None if header is None else header is HeaderLine.FIRST,
        has_quotes=None if quoting is None else quoting is Quoting.DOUBLE,
        skipped=chosen.get("skip_lines"),
    )


def _output(
    request: ModelExportRequest,
    data: DataSet | None,
    recipe: TableRecipe | TextRecipe | None,
    trained_on: TrainedOn | None,
    ending: "OutputLayer",
    first: npt.NDArray[np.float32],
) -> ModelOutput:
    said = recipe if trained_on is None else trained_on
    known = request.class_names if said is None else said.class_names
    if not known and said is None and data is not None:
        known = data.class_names
    target = _target(request, data, said, ending)
    if target is Target.VALUES:
        columns = () if recipe is None else recipe.targets
        names = _names(columns, ending.outputs, first=1, word="value ")
        return ModelOutput(
            kind=target, numbers="values", names=names, means="A number for each value."
        )
    is_binary = target is Target.CLASSES and ending.outputs == 1
    names = _names(known, 2 if is_binary else ending.outputs)
    are_logits = _are_logits(ending, first, len(known) or None, target)
    what = "logit" if are_logits else "probability"
    means = f"The {what} of each {'class' if target is Target.CLASSES else 'label'}, in this order."
    return ModelOutput(
        kind=target,
        numbers="logits" if are_logits else "probabilities",
        names=names,
        means=f"The {what} of the second class." if is_binary else means,
    )


def _target(
    request: ModelExportRequest,
    data: DataSet | None,
    said: TrainedOn | TableRecipe | TextRecipe | None,
    ending: "OutputLayer",
) -> Target:
    """What the outputs are about, as the model's file, the data, settings or last layer show it."""
    if said is not None:
        return said.predicts
    if data is not None:
        return data.target
    chosen = None if request.data is None else request.data.target_kind
    if chosen is not None:
        return chosen
    if ending.activation is Activation.LINEAR and not request.class_names:
        return Target.VALUES
    is_of_labels = ending.activation is Activation.SIGMOID and ending.outputs > 1
    return Target.LABELS if is_of_labels else Target.CLASSES


def _are_logits(
    ending: "OutputLayer",
    first: npt.NDArray[np.float32],
    class_count: int | None,
    target: Target,
) -> bool:
    """Whether the last layer leaves out what makes probabilities, or its outputs look like that."""
    if ending.activation is not Activation.UNKNOWN:
        return ending.activation in (Activation.LINEAR, Activation.SAID_LOGITS)
    return read_outputs(ending.activation, first, class_count, target).meaning in _LOGITS


def _names(known: Sequence[str], count: int, *, first: int = 0, word: str = "") -> tuple[str, ...]:
    """The names that are known; else numbers."""
    if len(known) == count:
        return tuple(known)
    return tuple(f"{word}{number}" for number in range(first, first + count))
