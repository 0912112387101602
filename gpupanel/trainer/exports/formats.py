"""Writes a model in the formats that other programs load, and calls what was written."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import keras
import tensorflow as tf

from gpupanel.domain.model_export import ModelExportRequest, ModelFormat, Quantization
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import whole_file, write_whole
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.models.loaded_model import load_named
from gpupanel.trainer.models.model_file_problems import problem
from gpupanel.trainer.models.named_model import Named, NamedModel

Call = Callable[[Named], dict[str, Array]]
"""What a model gives for some examples, both by names."""
_SIGNATURE: Final = "serving_default"
_SIGNATURE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""TensorFlow changes others."""
_UNSUPPORTED: Final = "Some ops are not supported"
_LONGEST_REASON: Final = 1_500


def write_format(
    request: ModelExportRequest, model: NamedModel, examples: Named
) -> tuple[Call, int]:
    """Write the model as it is asked for.

    Args:
        request: Says where, and as what.
        model: Is written.
        examples: Some, which show ranges.

    Returns:
        What calls that which was written, and its size in bytes.

    Raises:
        ProblemError: It has no such form, or its folder is there already.
        OSError: It cannot be written.
    """
    match request.model_format:
        case ModelFormat.KERAS:
            return _copied(request, model)
        case ModelFormat.SAVEDMODEL:
            return _savedmodel(request, model)
    return _tflite(request, model, examples)


def one_by_one(examples: Named) -> Iterator[dict[str, Array]]:
    """Each of some examples alone, its batch axis of length 1."""
    count = len(next(iter(examples.values())))
    for row in range(count):
        yield {name: each[row : row + 1] for name, each in examples.items()}


def _copied(request: ModelExportRequest, model: NamedModel) -> tuple[Call, int]:
    """The file as it is."""
    output = Path(request.output)
    with open_regular(Path(request.model)) as file, whole_file(output) as copy:
        shutil.copyfileobj(file, copy)
    copied = load_named(str(output), keeps_names=not model.takes_one or not model.gives_one)
    return copied, output.stat().st_size


def _savedmodel(request: ModelExportRequest, model: NamedModel) -> tuple[Call, int]:
    """A folder; nothing is written over."""
    output = Path(request.output)
    if os.path.lexists(output):
        raise problem(
            "export_in_the_way",
            f"{output} is there already, and a SavedModel is a folder of its own.",
            "Name another folder.",
        )
    _export(model, output)
    loaded = tf.saved_model.load(str(output))
    size = sum(each.stat().st_size for each in output.rglob("*") if each.is_file())
    return lambda named: model.by_names(loaded.serve(model.given(named))), size


def _export(model: NamedModel, folder: Path) -> None:
    """Write a SavedModel whose signature has the names of the inputs and outputs.

    Raises:
        ProblemError: TensorFlow would change these.
    """
    names = [] if model.takes_one else [*model.inputs]
    names += [] if model.gives_one else [*model.outputs]
    odd = [name for name in names if not _SIGNATURE_NAME.fullmatch(name)]
    if odd:
        raise problem(
            "export_names_changed",
            f"The model has an input or output called {odd[0]!r}, and TensorFlow's formats hold "
            "ASCII letters, digits and underscores only: it would be called otherwise there.",
            "Export it as a .keras file, or train it with other names.",
        )
    model.model.export(str(folder), verbose=False)


def _tflite(request: ModelExportRequest, model: NamedModel, examples: Named) -> tuple[Call, int]:
    """One file, which is written when it can be carried out."""
    with tempfile.TemporaryDirectory(dir=Path(request.output).parent, prefix=".tflite.") as folder:
        converter = _converter(model, Path(folder))
        if request.quantization is not None:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if request.quantization is Quantization.FLOAT16:
            converter.target_spec.supported_types = [tf.float16]
        if request.quantization is Quantization.INT8:

            def ranges() -> Iterator[list[Array]]:
                for one in one_by_one(examples):
                    yield list(one.values())  # of a data set that can be read: one input

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
    call = _interpreted(content, model)
    call(next(one_by_one(examples)))  # what cannot be carried out is not written
    write_whole(Path(request.output), content)
    return call, len(content)


def _converter(model: NamedModel, folder: Path) -> tf.lite.TFLiteConverter:
    """What converts the model; with names it has to be a SavedModel first.

    Args:
        model: In whatever precision.
        folder: Is there, and empty.
    """
    plain = _in_float32(model.model)
    if model.takes_one and model.gives_one:
        return tf.lite.TFLiteConverter.from_keras_model(plain)
    saved = folder / "saved"
    _export(NamedModel(plain), saved)
    return tf.lite.TFLiteConverter.from_saved_model(str(saved))


def _in_float32(model: keras.Model) -> keras.Model:
    """The same model, computing in 32 bits: LiteRT does not multiply in 16."""
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


def _interpreted(content: bytes, model: NamedModel) -> Call:
    """What LiteRT makes of the file; where it is not installed, the interpreter of TensorFlow."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        Interpreter = tf.lite.Interpreter  # noqa: N806 - a class
    run = Interpreter(model_content=content).get_signature_runner(_SIGNATURE)
    taken = list(run.get_input_details())

    def call(named: Named) -> dict[str, Array]:
        given = dict(zip(taken, named.values(), strict=True)) if model.takes_one else dict(named)
        found = run(**given)
        return model.by_names(next(iter(found.values())) if model.gives_one else found)

    return call
