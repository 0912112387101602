"""``python -m gpupanel.trainer.tools.model_export``: a trained model for other programs.

A :class:`~gpupanel.domain.model_export.ModelExportRequest` as JSON on standard input is answered by
a :class:`~gpupanel.domain.model_export.ModelExport` on standard output. What cannot be loaded again
is not written; what is written is then compared with the model. Beside it stand a description of
what it takes and gives, and a script that predicts with it. What is wrong with model or data is
inside the answer.
"""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import DataCache, DataSettings
from gpupanel.domain.model_export import (
    ModelExport,
    ModelExportRequest,
    ModelFormat,
    Quantization,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import whole_file, write_whole
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.models.model_classes import check_gives_rows
from gpupanel.trainer.models.model_file import check_model_file, recipe_in
from gpupanel.trainer.models.model_file_problems import problem
from gpupanel.trainer.models.output_ending import ENDINGS, outputs_unknown

if TYPE_CHECKING:
    import keras

_Floats = npt.NDArray[np.float32]
_Call = Callable[[_Floats], _Floats]

_EXAMPLES = 64
"""How many examples are compared, and show ranges."""
_TIMED = 32
"""One by one; the first ones are not counted."""
_UNSUPPORTED = "Some ops are not supported"
_LONGEST_REASON = 1_500
_MOST_TRIED = 16 * _EXAMPLES
"""How many examples are tried until so many could be read."""


def export_model(request: ModelExportRequest) -> ModelExport:
    """Write it; or the problems because of which it was not written."""
    try:
        check_model_file(request.model)
        check_gives_rows(request.model)
        return _exported(request)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in evaluation
        return ModelExport(problems=problems_of(error, what="The export of the model"))


def _exported(request: ModelExportRequest) -> ModelExport:
    # They take seconds.
    from gpupanel.trainer.exports.description import describe, write_beside
    from gpupanel.trainer.inference.replicas import output_layer_of
    from gpupanel.trainer.models.loaded_model import load_saved
    from gpupanel.trainer.parts.output_meaning import Activation

    model = load_saved(request.model)
    data, found, why = None, None, "there is none on this machine that can be read without a run"
    try:
        data = _data_of(request.data, request.seed, request.model)
        found = None if data is None else _examples_of(data, model)
    except (OSError, ProblemError) as error:
        why = str(error)
    if found is None and request.quantization is Quantization.INT8:
        raise _no_calibration(why)
    examples = _random_examples(model) if found is None else found
    write = {
        ModelFormat.KERAS: _copied,
        ModelFormat.SAVEDMODEL: _savedmodel,
        ModelFormat.TFLITE: _tflite,
    }
    written, size = write[request.model_format](request, model, examples)

    def of_model(features: _Floats) -> _Floats:
        return np.asarray(model(features, training=False), np.float32)

    wanted = of_model(examples)
    ending = output_layer_of(model, request.outputs)
    shape = tuple(
        side or known
        for side, known in zip(model.inputs[0].shape[1:], examples.shape[1:], strict=True)
    )
    taken = shape, str(model.inputs[0].dtype)
    outputs = wanted.reshape(len(wanted), ending.outputs)
    description = describe(request, data, taken, ending, outputs)
    write_beside(request, description)
    probable = ENDINGS.get(description.output.kind)
    is_guess = ending.activation is Activation.UNKNOWN
    given = np.concatenate([written(one[np.newaxis]) for one in examples])
    return ModelExport(
        size_bytes=size,
        compared=len(examples),
        of_data=found is not None,
        largest_difference=float(np.max(np.abs(given - wanted), initial=0.0)),
        seconds_an_example=_seconds(written, examples),
        model_seconds_an_example=_seconds(of_model, examples),
        problems=(outputs_unknown(probable, is_trained=False),) if is_guess and probable else (),
    )


def _no_calibration(why: str) -> ProblemError:
    return ProblemError(
        Problem(
            code="export_without_examples",
            field="data",
            message="int8 needs examples to see which numbers come up, and the run's data cannot "
            "be read.",
            hint="Export as float16, or put the data where the run's profile says.",
            detail=why,
        )
    )


def _data_of(data: DataSettings | None, seed: int, path: str) -> DataSet | None:
    """The data; ``None`` where nobody but a run may read it.

    Raises:
        ProblemError: It cannot be read.
        OSError: A file of it cannot be read.
    """
    if data is None or data.is_code or needs_download(data):
        return None
    reading = Reading(no_download, seed=seed, recipe=recipe_in(path), is_preview=True)
    return read_data(data.model_copy(update={"cache": DataCache.NONE}), reading)


def _examples_of(data: DataSet, model: "keras.Model") -> _Floats | None:
    """Some examples as the model takes them; ``None`` where it takes others.

    Raises:
        ProblemError: None of them can be read.
    """
    features = _readable(data.training).astype(_input_type(model))
    shape = model.inputs[0].shape[1:]
    if len(features.shape[1:]) == len(shape):
        return features
    return features.reshape(len(features), *shape) if None not in shape else None


def _readable(examples: Examples) -> Array:
    """The features of some examples from all over the set, without those that cannot be read.

    Raises:
        ProblemError: None of those that were tried can be read.
    """
    count = min(_EXAMPLES, len(examples))
    chosen = np.unique(np.linspace(0, len(examples) - 1, count).astype(np.int32))
    try:
        return examples.read(chosen)
    except ProblemError as error:
        failed = error
    others = np.random.default_rng(0).permutation(len(examples))[:_MOST_TRIED].astype(np.int32)
    found: list[Array] = []
    for index in dict.fromkeys([*chosen.tolist(), *others.tolist()]):
        with contextlib.suppress(ProblemError):
            found.append(examples.read(np.array([index], np.int32)))
        if len(found) == count:
            break
    if not found:
        raise failed
    return np.concatenate(found)


def _random_examples(model: "keras.Model") -> _Floats:
    sides = [1 if side is None else side for side in model.inputs[0].shape[1:]]
    drawn = np.random.default_rng(0).random((_EXAMPLES // 4, *sides))
    return drawn.astype(_input_type(model))


def _input_type(model: "keras.Model") -> np.dtype[Any]:
    return np.dtype(str(model.inputs[0].dtype))


def _copied(
    request: ModelExportRequest, model: "keras.Model", examples: _Floats
) -> tuple[_Call, int]:
    """The file as it is."""
    from gpupanel.trainer.models.loaded_model import load_saved

    del model, examples
    output = Path(request.output)
    with open_regular(Path(request.model)) as file, whole_file(output) as copy:
        shutil.copyfileobj(file, copy)
    copied = load_saved(str(output))
    size = output.stat().st_size
    return lambda features: np.asarray(copied(features, training=False), np.float32), size


def _savedmodel(
    request: ModelExportRequest, model: "keras.Model", examples: _Floats
) -> tuple[_Call, int]:
    """A folder; nothing is written over."""
    import tensorflow as tf

    del examples
    output = Path(request.output)
    if os.path.lexists(output):
        raise problem(
            "export_in_the_way",
            f"{output} is there already, and a SavedModel is a folder of its own.",
            "Name another folder.",
        )
    model.export(str(output), verbose=False)
    loaded = tf.saved_model.load(str(output))
    size = sum(each.stat().st_size for each in output.rglob("*") if each.is_file())
    return lambda features: np.asarray(loaded.serve(features), np.float32), size


def _tflite(
    request: ModelExportRequest, model: "keras.Model", examples: _Floats
) -> tuple[_Call, int]:
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_keras_model(_in_float32(model))
    if request.quantization is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if request.quantization is Quantization.FLOAT16:
        converter.target_spec.supported_types = [tf.float16]
    if request.quantization is Quantization.INT8:

        def ranges() -> Iterator[list[_Floats]]:
            for one in examples:
                yield [one[np.newaxis]]

        converter.representative_dataset = ranges
    try:
        content: bytes = converter.convert()
    except Exception as error:
        # Whatever it stumbles over; it prints the whole model, too.
        raise problem(
            "export_not_convertible",
            "The model has operations that TFLite has no form of.",
            "Export it as a SavedModel.",
            _reason(str(error)),
        ) from error
    call = _interpreted(content, tuple(examples.shape[1:]))
    call(examples[:1])  # what cannot be carried out is not written
    write_whole(Path(request.output), content)
    return call, len(content)


def _in_float32(model: "keras.Model") -> "keras.Model":
    """The same model, computing in 32 bits: LiteRT does not multiply in 16."""
    import keras

    config = keras.saving.serialize_keras_object(model)
    in_float32 = _with_float32(config)
    if in_float32 == config:
        return model
    built: keras.Model = keras.saving.deserialize_keras_object(in_float32, safe_mode=True)
    built.set_weights(model.get_weights())
    return built


def _with_float32(config: Any) -> Any:  # noqa: ANN401 - as deep as any JSON
    """What Keras says of a model, with float32 in place of each mixed policy."""
    if isinstance(config, list | tuple):
        return type(config)(map(_with_float32, config))
    if not isinstance(config, dict):
        return config
    if config.get("class_name") == "DTypePolicy":
        return {**config, "config": {**config["config"], "name": "float32"}}
    return {key: _with_float32(value) for key, value in config.items()}


def _reason(words: str) -> str:
    """What a person can use of a converter's words."""
    place = max(0, words.find(_UNSUPPORTED))
    return words[place : place + _LONGEST_REASON].partition("\n<unknown>")[0].strip()


def _interpreted(content: bytes, shape: tuple[int, ...]) -> _Call:
    """What LiteRT makes of the file; where it is not installed, the interpreter of TensorFlow."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        import tensorflow as tf

        Interpreter = tf.lite.Interpreter  # noqa: N806 - a class
    interpreter = Interpreter(model_content=content)
    given = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(given, (1, *shape))
    interpreter.allocate_tensors()
    result = interpreter.get_output_details()[0]["index"]

    def call(features: _Floats) -> _Floats:
        interpreter.set_tensor(given, features)
        interpreter.invoke()
        return np.array(interpreter.get_tensor(result), np.float32)

    return call


def _seconds(call: _Call, examples: _Floats) -> float:
    """The median over calls with one example each."""
    took = []
    for number in range(_TIMED):
        one = examples[number % len(examples)][np.newaxis]
        start = time.perf_counter()
        call(one)
        took.append(time.perf_counter() - start)
    return float(np.median(took[_TIMED // 4 :]))


def main() -> int:
    """Answer the request on standard input."""
    request = ModelExportRequest.model_validate_json(sys.stdin.buffer.read())
    # TensorFlow's converters print to standard output, where only the answer may stand.
    answer = os.dup(1)
    os.dup2(2, 1)
    found = export_model(request)
    with os.fdopen(answer, "w", encoding="utf-8") as file:
        file.write(found.model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
