"""What is answered about single examples."""

import base64
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpupanel.domain.asked_prediction import (
    MOST_COLUMNS_ASKED,
    MOST_PREDICTED,
    HeatMap,
    PredictedNumber,
    PredictionAnswer,
    PredictionAsked,
)
from gpupanel.domain.data import DataSettings
from gpupanel.domain.preview import ExamplePreview
from gpupanel.trainer.datasets.example_previews import example_preview
from gpupanel.trainer.datasets.source import Source, source_of
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.models.model_file import check_model_file, recipe_in
from gpupanel.trainer.tensorflow_import import import_tensorflow
from gpupanel.trainer.tools.prediction.single_example import asked_model, single_example

if TYPE_CHECKING:
    from gpupanel.trainer.inference.heat_map import HeatMaps
    from gpupanel.trainer.inference.replicas import Replica
    from gpupanel.trainer.inference.single_examples import LoadedModel, SinglePrediction

_WHAT = "The prediction"
_GREATEST = 255.0
Meant = Literal["classes", "labels", "values"]


class Answers:
    """Answers one question after the other; the model stays loaded."""

    def __init__(self) -> None:
        self._model: LoadedModel | None = None
        self._heat: tuple[Replica, HeatMaps] | None = None
        """Of the model that a heat map was asked of last."""

    def answer(self, asked: PredictionAsked) -> PredictionAnswer:
        """What the model takes, or says; or what is wrong."""
        try:
            if asked.wants == "inputs":
                return self._inputs(asked)
            return self._predicted(asked)
        except Exception as error:  # noqa: BLE001 - reported as a problem, as in a run
            return PredictionAnswer(problems=problems_of(error, task="predict", what=_WHAT))

    def _predicted(self, asked: PredictionAsked) -> PredictionAnswer:
        model = self._begun(asked)
        with single_example(asked, asked_model(asked)) as (examples, single):
            found = model.predict(asked.profile, examples)
        image = example_preview("", found.features[0], _GREATEST, between=single.shown_between)
        is_image = bool(image.pixels_base64)
        answer = PredictionAnswer(
            meaning=_meant(found),
            predicted=tuple(_most(asked, found)),
            predicted_count=found.numbers.shape[1],
            image=image if is_image else None,
            made=single.made,
            is_swapped=single.is_swapped,
            count=single.count,
            problems=(*single.notes, *examples.notes),
        )
        if not (asked.with_heat_map and is_image and found.class_names):
            return answer
        return answer.model_copy(update=self._heat_map(found, image))

    def _heat_map(self, found: "SinglePrediction", image: ExamplePreview) -> dict[str, object]:
        """The heat map of the most probable class, or why there is none."""
        from gpupanel.trainer.inference.heat_map import HeatMaps, NoHeatMapError, resized

        place, replica = int(found.numbers[0].argmax()), found.replica
        if self._heat is None or self._heat[0] is not replica:
            self._heat = replica, HeatMaps(replica.network)
        # One output is about the second of two classes.
        is_one = replica.ending.outputs == 1 and not found.meaning.of_labels
        output, sign = (0, 1.0 if place else -1.0) if is_one else (place, 1.0)
        try:
            heat = self._heat[1].of(replica.inputs_of(found.features), output, sign=sign)
        except NoHeatMapError as error:
            return {"without_heat_map": str(error)}
        pixels = np.rint(255.0 * resized(heat, image.height, image.width)).astype(np.uint8)
        told = HeatMap(
            pixels_base64=base64.b64encode(pixels.tobytes()).decode("ascii"),
            width=image.width,
            height=image.height,
            about=found.class_names[place],
        )
        return {"heat_map": told}

    def _inputs(self, asked: PredictionAsked) -> PredictionAnswer:
        """What a model of rows takes; others are loaded, and tried on an example that says nothing.

        What is wrong with the model is known before somebody gives an example, and the first one is
        answered as quickly as the others.
        """
        data, source = asked.profile.data, _source_of(asked)
        columns = source.asked_columns(data, _recipe_of(asked))
        if columns:
            return PredictionAnswer(columns=columns[:MOST_COLUMNS_ASKED], column_count=len(columns))
        model, known = self._begun(asked), asked_model(asked)
        with single_example(asked, known) as (examples, _):
            model.predict(asked.profile, examples)
        files = source.asked_files(data, known)
        return PredictionAnswer(takes=files.words, takes_pictures=files.are_pictures)

    def _begun(self, asked: PredictionAsked) -> "LoadedModel":
        if self._model is None:
            # Before TensorFlow is imported, which takes seconds: a file that nothing can be made
            # of, or whose model would need code to be executed.
            check_model_file(asked.profile.model.chosen_path)
            self._model = _made_model()
        return self._model


def _made_model() -> "LoadedModel":
    """TensorFlow, set as for a run on the CPU."""
    import_tensorflow()

    from gpupanel.trainer.device_configuration import configure_graph_optimizer
    from gpupanel.trainer.inference.single_examples import LoadedModel

    configure_graph_optimizer(is_one_cpu_device=True)
    return LoadedModel()


def _meant(found: "SinglePrediction") -> Meant:
    if not found.class_names:
        return "values"
    return "labels" if found.meaning.of_labels else "classes"


def _most(asked: PredictionAsked, found: "SinglePrediction") -> list[PredictedNumber]:
    """The most probable classes, or the first values."""
    numbers, names = found.numbers[0].astype(np.float64), found.class_names
    if not names:
        names = _value_names(asked, len(numbers))
        order = np.arange(len(numbers))
    else:
        order = np.argsort(-numbers, kind="stable")
    return [
        PredictedNumber(name=names[place], number=float(numbers[place]))
        for place in order[:MOST_PREDICTED].tolist()
    ]


def _value_names(asked: PredictionAsked, count: int) -> tuple[str, ...]:
    """What values are of: the columns that were predicted, where they are known."""
    names = _source_of(asked).value_names(asked.profile.data, _recipe_of(asked))
    if len(names) == count:
        return names
    return ("value",) if count == 1 else tuple(f"value {place}" for place in range(1, count + 1))


def _source_of(asked: PredictionAsked) -> Source[DataSettings]:
    return source_of(asked.profile.data)


def _recipe_of(asked: PredictionAsked) -> str:
    return recipe_in(asked.profile.model.chosen_path)
