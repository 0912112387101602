"""``python -m gpupanel.trainer.tools.model_summary``: the layers of a model, built but not trained.

A :class:`~gpupanel.domain.model_summary.SummaryRequest` as JSON on standard input is answered by a
:class:`~gpupanel.domain.model_summary.ModelSummary` on standard output. What is wrong with data or
model is inside the answer. The model is built without a device of its own, from examples of the
data; what was built once is kept in the cache, so that TensorFlow is not imported for it again.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic import ValidationError

from gpupanel import __version__
from gpupanel.domain.data import DataCache
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.model_summary import (
    LayerSummary,
    ModelSummary,
    ParameterCounts,
    SummaryRequest,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.step_memory import MOST_LAYERS, StepMemory, StepVariant
from gpupanel.domain.training import LayerNames, Recompute
from gpupanel.files.cache_folder import cache_folder, remove_unused
from gpupanel.files.guarded_files import read_file, touch
from gpupanel.files.whole_files import write_whole
from gpupanel.trainer.datasets.cache_file import marks_of
from gpupanel.trainer.datasets.checked_form import check_taken
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.models.kept_head import kept_classes, with_kept_classes
from gpupanel.trainer.models.saved_recipe import reading_to_train

if TYPE_CHECKING:
    import keras

    from gpupanel.trainer.models.build import BuiltModel

_FOLDER: Final = "summaries"
_SCHEMA: Final = 6
"""Version of the cached summaries; others are built again."""
_MOST_BYTES: Final = 16 * 2**20
_EXAMPLES: Final = 256
"""Enough to build with: what their values are matters to no shape."""


def summarize(request: SummaryRequest) -> ModelSummary:
    """The layers of the model; or the problems that a training would have."""
    data, model = request.data, request.model
    if needs_download(data):
        return ModelSummary(needs_download=True)
    if data.is_code or model.is_code:
        return ModelSummary(needs_start=True)
    try:
        return _summarized(request)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as at the start of a run
        return ModelSummary(problems=problems_of(error, what="Building the model"))


def _summarized(request: SummaryRequest) -> ModelSummary:
    """The layers, from the cache where they were built before."""
    reading = reading_to_train(
        Reading(no_download, seed=request.seed, is_preview=True), request.model, request.data
    )
    read = read_data(request.data.model_copy(update={"cache": DataCache.NONE}), reading)
    check_taken(request.model, request.data, read)
    kept_by_model = kept_classes(request.model, request.data)
    read = with_kept_classes(Split(read, read.training, None), kept_by_model).data
    key = _key(request, read)
    kept = _kept(key)
    if kept is None:
        kept = _built(request, read)
        _keep(key, kept)
    return kept


def _key(request: SummaryRequest, data: DataSet) -> str:
    """All that the layers depend on."""
    depends_on = {
        "model": request.model.model_dump(mode="json"),
        "features": data.training.feature_shape,
        "labels": data.training.labels.shape[1:],
        "classes": len(data.class_names),
        "target": data.target.value,
        "scaling": data.scaling.name,
        "greatest": data.greatest,
        "file": _file_marks(request.model),
        "tokens": data.token_count,
        "categories": data.categories,
        "mixed_precision": request.mixed_precision,
        "recompute": request.recompute,
        "with_variants": request.with_variants,
        "versions": [_SCHEMA, __version__, version("keras")],
    }
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()


def _file_marks(model: ModelSettings) -> tuple[int, ...]:
    """What shows that a saved model is the one of the last time; it is not read for that."""
    if not model.is_saved:
        return ()
    with suppress(OSError):
        return marks_of(Path(model.chosen_path).stat())
    return ()


def _kept(key: str) -> ModelSummary | None:
    """What was built before; ``None``: nothing, or the cache cannot be read."""
    with suppress(OSError, ValidationError):
        place = cache_folder(_FOLDER) / f"{key}.json"
        kept = ModelSummary.model_validate_json(read_file(place, place.parent, _MOST_BYTES))
        touch(place, place.parent)
        return kept
    return None


def _keep(key: str, summary: ModelSummary) -> None:
    """Cache the summary; on a full disk, or without a cache, it is built again."""
    with suppress(OSError):
        place = cache_folder(_FOLDER) / f"{key}.json"
        write_whole(place, summary.model_dump_json(), private=True)
        remove_unused(place.parent)


def _built(request: SummaryRequest, data: DataSet) -> ModelSummary:
    import keras  # takes seconds

    from gpupanel.trainer.models.build import build_model
    from gpupanel.trainer.models.keras_settings import set_keras
    from gpupanel.trainer.models.network import Building

    count = min(_EXAMPLES, len(data.training))
    some = data.training.subset(np.arange(count, dtype=np.int32))
    # Weights of a file are not read, and none are drawn: they change no layer, and may not fit.
    set_keras("mixed_bfloat16" if request.mixed_precision else "float32")
    with keras.StatelessScope(initialize_variables=False):
        built = build_model(request.model, Building(data, some, begins=False))
        layers = tuple(_layers(built.trained))
        step, problems = _step_memory(built, data, some, request.recompute)
    trainable = sum(layer.trainable for layer in layers)
    total = sum(layer.parameters for layer in layers)
    counts = ParameterCounts(trainable=trainable, frozen=total - trainable)
    return ModelSummary(
        layers=layers,
        parameters=counts,
        fine_tuning=request.model.fine_tuning,
        step=step,
        variants=tuple(_variants(request, data, some)) if request.with_variants else (),
        problems=problems,
    )


def _variants(request: SummaryRequest, data: DataSet, some: Examples) -> Iterator[StepVariant]:
    """What a step holds with floats of 32 and of 16 bits, activations kept and computed again."""
    import keras

    from gpupanel.trainer.models.build import build_model
    from gpupanel.trainer.models.keras_settings import set_keras
    from gpupanel.trainer.models.network import Building, layers_of
    from gpupanel.trainer.parts.placed_layer import put_on_device

    blocks = Recompute.BLOCKS if request.recompute is Recompute.NONE else request.recompute
    for mixed in (False, True):
        numbers: dict[int, int] = {}

        def place(layer: keras.layers.Layer, numbers: dict[int, int] = numbers) -> None:
            put_on_device(layer, f"/device:CPU:{len(numbers)}")
            numbers[id(layer)] = len(numbers)

        building = Building(data, some, begins=False)
        if request.model.is_divided:
            building = replace(building, hook=place)
        set_keras("mixed_bfloat16" if mixed else "float32")
        with keras.StatelessScope(initialize_variables=False):
            built = build_model(request.model, building)
            layers = [
                (numbers[id(layer)], layer)
                for layer in layers_of(built.trained)
                if id(layer) in numbers and len(numbers) <= MOST_LAYERS
            ]
            for recompute in (Recompute.NONE, blocks):
                step, _ = _step_memory(built, data, some, recompute, layers)
                recomputes = recompute is not Recompute.NONE
                yield StepVariant(mixed_precision=mixed, recomputes=recomputes, step=step)


def _step_memory(
    built: "BuiltModel",
    data: DataSet,
    some: Examples,
    recompute: Recompute | LayerNames,
    layers: Sequence[tuple[int, "keras.layers.Layer"]] = (),
) -> tuple[StepMemory | None, tuple[Problem, ...]]:
    """What a step holds, and why it cannot be as it was asked for.

    ``None`` where it cannot be traced, which the layers do not depend on.
    """
    from gpupanel.trainer.memory_estimate.step_memory import step_memory
    from gpupanel.trainer.models.objectives import make_objective
    from gpupanel.trainer.models.recomputed import recomputed_segments

    objective = make_objective(data.target, built.value_units, built.value_means)
    try:
        segments = recomputed_segments(built.trained, recompute)
        return step_memory(built.trained, objective, some, segments, layers), ()
    except ProblemError as error:
        return None, error.problems
    except Exception:  # noqa: BLE001 - whatever tracing raises: an estimate more is all it is for
        return None, ()


def _layers(model: "keras.Model", within: str = "") -> Iterator[LayerSummary]:
    import keras

    for layer in model.layers:
        if isinstance(layer, keras.Model):
            yield from _layers(layer, layer.name)
        elif not isinstance(layer, keras.layers.InputLayer):
            yield LayerSummary(
                name=layer.name,
                kind=type(layer).__name__,
                output_shape=_shape(layer),
                parameters=_count(layer.weights),
                trainable=_count(layer.trainable_weights),
                within=within,
            )


def _shape(layer: "keras.layers.Layer") -> tuple[int | None, ...]:
    try:
        output = layer.output
    except (AttributeError, ValueError):  # called several times
        return ()
    return () if isinstance(output, (list, tuple, dict)) else tuple(output.shape[1:])


def _count(weights: list[Any]) -> int:
    return sum(int(np.prod(weight.shape, dtype=np.int64)) for weight in weights)


def main() -> int:
    """Answer the request on standard input."""
    request = SummaryRequest.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(summarize(request).model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
