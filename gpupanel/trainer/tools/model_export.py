"""``python -m gpupanel.trainer.tools.model_export``: a trained model for other programs.

A :class:`~gpupanel.domain.model_export.ModelExportRequest` as JSON on standard input is answered by
a :class:`~gpupanel.domain.model_export.ModelExport` on standard output. What cannot be loaded again
is not written; what is written is then compared with the model. Beside it stand a description of
what it takes and gives, and a script that predicts with it. What is wrong with model or data is
inside the answer.
"""

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from gpupanel.domain.data import DataCache, DataSettings, Target
from gpupanel.domain.model_export import ModelExport, ModelExportRequest, Quantization
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.models.model_file import check_model_file, recipe_in, trained_on_in
from gpupanel.trainer.models.output_ending import ENDINGS, outputs_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpupanel.trainer.exports.formats import Call
    from gpupanel.trainer.models.named_model import Named, NamedModel

_EXAMPLES = 64
"""How many examples are compared, and show ranges."""
_TIMED = 32
"""One by one; the first ones are not counted."""
_MOST_TRIED = 16 * _EXAMPLES
"""How many examples are tried until so many could be read."""


def export_model(request: ModelExportRequest) -> ModelExport:
    """Write it; or the problems because of which it was not written."""
    try:
        check_model_file(request.model, any_ends=True)
        return _exported(request)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in evaluation
        return ModelExport(problems=problems_of(error, what="The export of the model"))


def _exported(request: ModelExportRequest) -> ModelExport:
    # They take seconds.
    from gpupanel.trainer.exports.arrays import row_of
    from gpupanel.trainer.exports.description import describe, write_beside
    from gpupanel.trainer.exports.formats import one_by_one, write_format
    from gpupanel.trainer.models.loaded_model import load_named
    from gpupanel.trainer.parts.output_meaning import Activation

    trained = trained_on_in(request.model)
    model = load_named(request.model, keeps_names=trained is not None)
    data, found, why = None, None, "there is none on this machine that can be read without a run"
    try:
        data = _data_of(request.data, request.seed, request.model)
        found = None if data is None else _examples_of(data, model)
    except (OSError, ProblemError) as error:
        why = str(error)
    if found is None and request.quantization is Quantization.INT8:
        raise _no_calibration(why)
    examples = _random_examples(model) if found is None else found
    ending = row_of(model, trained, request.outputs)
    written, size = write_format(request, model, examples)
    wanted = model(examples)
    description = describe(request, data, model, examples, wanted, ending)
    write_beside(request, description)
    kind = description.output.kind
    probable = ENDINGS.get(kind) if isinstance(kind, Target) else None
    is_guess = ending is not None and ending.activation is Activation.UNKNOWN
    ones = list(one_by_one(examples))
    return ModelExport(
        size_bytes=size,
        compared=len(ones),
        of_data=found is not None,
        largest_difference=_largest_difference([written(one) for one in ones], wanted),
        seconds_an_example=_seconds(written, ones),
        model_seconds_an_example=_seconds(model, ones),
        problems=(outputs_unknown(probable, is_trained=False),) if is_guess and probable else (),
    )


def _largest_difference(found: "list[dict[str, Array]]", wanted: "Named") -> float:
    """Of any output of any example.

    Args:
        found: What was given for each example alone.
        wanted: What the model gives for all.
    """
    joined = {name: np.concatenate([one[name] for one in found]) for name in wanted}
    return max(
        float(np.max(np.abs(joined[name] - each), initial=0.0)) for name, each in wanted.items()
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


def _examples_of(data: DataSet, model: "NamedModel") -> "Named | None":
    """Some examples as the model takes them; ``None`` where it takes others.

    Raises:
        ProblemError: None of them can be read.
    """
    if len(model.inputs) != 1:
        return None
    ((name, given),) = model.inputs.items()
    features, shape = _readable(data.training).astype(str(given.dtype)), given.shape[1:]
    if len(features.shape[1:]) == len(shape):
        return {name: features}
    return {name: features.reshape(len(features), *shape)} if None not in shape else None


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


def _random_examples(model: "NamedModel") -> "Named":
    random = np.random.default_rng(0)
    return {
        name: random.random((_EXAMPLES // 4, *(side or 1 for side in each.shape[1:]))).astype(
            str(each.dtype)
        )
        for name, each in model.inputs.items()
    }


def _seconds(call: "Call", ones: "Sequence[Named]") -> float:
    """The median over calls with one example each."""
    took = []
    for number in range(_TIMED):
        start = time.perf_counter()
        call(ones[number % len(ones)])
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
