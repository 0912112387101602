"""A saved model that stays loaded and is asked about few examples at a time, on the CPU.

What it says is what a run that predicts on the same examples says: both read them, know the model's
classes and take its outputs by the same functions.
"""

from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.cache_file import marks_of
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.inference.meaning import OutputMeaning, check_finite, read_outputs
from gpupanel.trainer.inference.replicas import Replica, check_outputs, load_replica
from gpupanel.trainer.parts.output_meaning import Floats, predicted_numbers

CPU = "/device:CPU:0"


@dataclass(frozen=True, slots=True, eq=False)
class SinglePrediction:
    """What a model says of some examples.

    Attributes:
        features: Of the examples, as they were read.
        numbers: Probabilities, shape [examples, classes]; or values, shape [examples, values].
        class_names: None for values.
        meaning: Of the model's outputs.
        replica: The model.
    """

    features: Array
    numbers: Floats
    class_names: tuple[str, ...]
    meaning: OutputMeaning
    replica: Replica


class LoadedModel:
    """The model that was asked last; another one, or another state of its file, is loaded anew."""

    def __init__(self) -> None:
        self._replica: Replica | None = None
        self._key: object = None

    def predict(self, profile: Profile, examples: InferenceExamples) -> SinglePrediction:
        """What the model says of examples.

        Args:
            profile: Names the model, and says what its outputs and inputs are.
            examples: All of them are held in memory, and predicted on at once.

        Raises:
            ProblemError: The model cannot be used, or one of the examples.
            OSError: The model's file is gone.
        """
        features = examples.read(0, len(examples))
        replica = self._loaded(profile, examples)
        check_outputs(replica.ending.outputs, examples)
        outputs = replica(features)
        check_finite(outputs, examples.indices)
        classes = len(examples.class_names) or None
        meaning = read_outputs(replica.ending.activation, outputs, classes, examples.target)
        return SinglePrediction(
            features=features,
            numbers=predicted_numbers(outputs, meaning.meaning),
            class_names=meaning.class_names(examples.class_names),
            meaning=meaning,
            replica=replica,
        )

    def _loaded(self, profile: Profile, examples: InferenceExamples) -> Replica:
        model = profile.model
        path = Path(model.chosen_path)
        taken = examples.target, examples.feature_shape, examples.features_are_bytes
        key = model, marks_of(path.stat()), taken
        if self._replica is None or key != self._key:
            self._replica, self._key = None, None
            said, given = model.chosen_outputs, model.chosen_inputs
            self._replica = load_replica(str(path), CPU, examples, said, given)
            self._key = key
        return self._replica
