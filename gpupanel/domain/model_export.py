"""A trained model for other programs: the question to the exporting process, and its answer."""

from enum import Enum
from typing import Annotated

from pydantic import Field

from gpupanel.domain.data import DataSettings
from gpupanel.domain.model import Outputs
from gpupanel.domain.number_text import byte_size, short_number
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value


class ModelFormat(Enum):
    """What a model is written as."""

    KERAS = "keras"
    """One file as Keras saves it."""
    SAVEDMODEL = "savedmodel"
    """A folder that TensorFlow and TensorFlow Serving load."""
    TFLITE = "tflite"
    """One file for LiteRT, on phones and embedded devices."""


class Quantization(Enum):
    """How a TFLite file holds its weights; without it as they are, in 32 bits."""

    FLOAT16 = "float16"
    INT8 = "int8"
    """Activations, too, in ranges that some examples show; inputs and outputs stay float32."""


class ModelExportRequest(Value):
    """What to write.

    Attributes:
        model: The ``.keras`` file.
        output: Where; a folder for a SavedModel.
        model_format: As what.
        quantization: Of a TFLite file; ``None``: none.
        data: Whose examples both are compared on, and show ranges; ``None``: random numbers are.
        seed: Draws its validation split.
        class_names: As the run knew them, in the order of the outputs; empty: it knew none.
        outputs: What the model gives, as a person says; ``None``: its layers show it.
    """

    model: str
    output: str
    model_format: ModelFormat
    quantization: Quantization | None = None
    data: DataSettings | None = None
    seed: int = 0
    class_names: tuple[str, ...] = ()
    outputs: Outputs | None = None


_Positive = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class ModelExport(Value):
    """What was written, and how it compares with the model.

    Attributes:
        size_bytes: Of the file, or of all files of the folder.
        compared: On how many examples.
        of_data: Whether these were of the data; else random numbers.
        largest_difference: Of any output of any of them.
        seconds_an_example: One at a time, on this machine's CPU.
        model_seconds_an_example: The same of the model in Keras.
        problems: Why nothing was written; or, where something was, what is to be known of it.
    """

    size_bytes: int = 0
    compared: int = 0
    of_data: bool = False
    largest_difference: _Positive | None = None
    seconds_an_example: _Positive | None = None
    model_seconds_an_example: _Positive | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether it stands, whatever else there is to be known."""
        return not any(problem.is_error for problem in self.problems)


def export_sentence(found: ModelExport) -> str:
    """What was written, in one sentence."""
    text = byte_size(found.size_bytes)
    if found.largest_difference is None:
        return f"{text}, not compared with the model."
    what = "examples of the data" if found.of_data else "examples of random numbers"
    speed = ""
    if found.seconds_an_example is not None and found.model_seconds_an_example is not None:
        own_ms = short_number(1000.0 * found.seconds_an_example, 3)
        keras_ms = short_number(1000.0 * found.model_seconds_an_example, 3)
        speed = f"; {own_ms} ms an example, {keras_ms} ms in Keras"
    return (
        f"{text}; over {found.compared:,} {what} its outputs differ from the model's by "
        f"{found.largest_difference:.1e} at most{speed}."
    )
