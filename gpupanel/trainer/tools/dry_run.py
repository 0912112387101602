"""A run that is only tried: it has no folder, and its data is read as at the start of a run."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from typing_extensions import override

from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.checked_form import check_taken
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.models.kept_head import kept_classes, with_kept_classes
from gpupanel.trainer.models.saved_recipe import reading_to_train
from gpupanel.trainer.started_run import StartedRun

_EXAMPLES: Final = 256
"""Examples that are read and repeated: their content does not matter to memory."""
_MOST_EXAMPLE_BYTES: Final = 64 * 2**20
"""The most bytes of these examples together."""


@dataclass(frozen=True, slots=True)
class DryRun(StartedRun):
    """A run that has no folder: no copy of a model is taken from where the process works."""

    @property
    @override
    def start_model(self) -> None:
        return None


def divided(profile: Profile) -> Split:
    """What would be trained on; as at the start of a run, without a fingerprint.

    Raises:
        ProblemError: The data cannot be read, or the model does not take it.
    """
    seed = profile.training.seed
    reading = reading_to_train(Reading(no_download, seed=seed), profile.model, profile.data)
    kept = kept_classes(profile.model, profile.data)
    data = read_data(profile.data, reading)
    check_taken(profile.model, profile.data, data)
    return with_kept_classes(split(data, profile.data, seed), kept)


def some_of(training: Examples, most: int = _EXAMPLES) -> Examples:
    """The first examples, as many as is sensible to read and to hold."""
    fitting = max(1, _MOST_EXAMPLE_BYTES // max(1, training.example_bytes))
    count = min(most, len(training), fitting)
    chosen = np.arange(count, dtype=np.int32)
    return Examples(training.read(chosen), training.labels[chosen])
