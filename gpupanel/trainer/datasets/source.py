"""What the file of a source offers: its ``SOURCE``; the one way from settings to examples."""

import importlib
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataSettings
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import AllExamples, DataSet, Examples, chained
from gpupanel.trainer.datasets.images.decoding import ImageDecoding
from gpupanel.trainer.datasets.progress import OnProgress, ignore_progress
from gpupanel.trainer.datasets.single_data import (
    AskedFiles,
    AskedModel,
    SingleData,
    example_refused,
)
from gpupanel.trainer.downloads.progress import OnDownload
from gpupanel.trainer.user_code import RunCode

# Every process that reads data imports this module: few of them scan it, or answer about examples.
if TYPE_CHECKING:
    from gpupanel.domain.asked_prediction import AskedColumn, PredictionAsked
    from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned

Settings = TypeVar("Settings", bound=DataSource, contravariant=True)


def no_download(name: str, bytes_done: int, bytes_total: int | None) -> None:
    """The :data:`OnDownload` of who reads only what is on this machine."""
    raise RuntimeError(f"{name} must not be downloaded here")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source may need to be read.

    Attributes:
        on_download: Called with how far a download is.
        code: What a run has of the Python code that loads the data. Without it none is carried
            out.
        seed: For what that code draws.
        must_differ: Refuse examples that are all of one class: nothing can be learned from them,
            but a trained model can be evaluated on them.
        recipe: How the features were made that a saved model takes, as the source wrote it; empty
            where none is used, or it says nothing.
        own_targets: What is predicted is found in the data, whatever the recipe says of it: the
            saved model gets a new last layer.
        more_classes: Classes that the recipe does not know are numbered after those that it knows:
            who evaluates the model says what becomes of them. Otherwise they are refused.
        is_preview: A preview: what would take minutes is left to a run.
        needs_labels: In a scan, say so where nothing shows what the examples are.
        on_progress: Called while data is made ready for its first use, which takes long.
        decoding: What may decode many images at once.
    """

    on_download: OnDownload
    code: RunCode | None = None
    seed: int = 0
    must_differ: bool = True
    recipe: str = ""
    own_targets: bool = False
    more_classes: bool = False
    is_preview: bool = False
    needs_labels: bool = True
    on_progress: OnProgress = ignore_progress
    decoding: ImageDecoding = field(default_factory=ImageDecoding)


@dataclass(frozen=True, slots=True)
class Found:
    """What a preview finds.

    Attributes:
        offers: What can be chosen, by the setting's key.
        found: What is taken where nothing was chosen, by the setting's key.
    """

    offers: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)
    found: Mapping[str, int | str | tuple[str, ...]] = field(default_factory=dict)


class Source(Protocol[Settings]):
    """Reads one kind of data; what else is asked about it stands in its settings."""

    @abstractmethod
    def read(self, data: Settings, reading: Reading) -> DataSet:
        """The examples, read and checked.

        Args:
            data: Which; a path in it is absolute.
            reading: What that may need.

        Raises:
            ProblemError: They cannot be used, and why.
        """
        ...

    def read_all(self, data: Settings, reading: Reading, *, needs_labels: bool) -> AllExamples:
        """The examples for a trained model; all may be of one class.

        Args:
            data: Which; a path in it is absolute.
            reading: What that may need.
            needs_labels: Without it a source may have none.

        Raises:
            ProblemError: They cannot be used, and why.
        """
        del needs_labels  # there are always some
        return all_examples(self.read(data, replace(reading, must_differ=False)))

    def find(self, data: Settings, reading: Reading) -> Found:
        """What is found where nobody chose, from a preview that reads no examples.

        Args:
            data: Which; a path in it is absolute.
            reading: What reading it would need.

        Raises:
            ProblemError: The data cannot be read, and why.
        """
        del data, reading
        return Found()

    def single(
        self, data: Settings, asked: "PredictionAsked", model: AskedModel, folder: Path
    ) -> SingleData:
        """The data that holds one example alone: the one that a model is asked about.

        Args:
            data: As the profile of the question has it.
            asked: The question. Where it wants to know what the model takes, any example will do.
            model: What its file says.
            folder: Where the example may be written.

        Raises:
            ProblemError: There is none of that kind, or it does not fit the model.
        """
        del data, asked, model, folder
        raise ProblemError(
            example_refused(
                "The model takes examples that nobody can give one by one.",
                "Predict by a run: set it up in the session.",
            )
        )

    def asked_files(self, data: Settings, model: AskedModel) -> AskedFiles:
        """Which files a person may give who asks about one example; of numbers.

        Args:
            data: What the model learned from.
            model: What its file says.
        """
        del data, model
        return AskedFiles()

    def asked_columns(self, data: Settings, recipe: str) -> "tuple[AskedColumn, ...]":
        """What a person gives who asks about a row; none where an example is none.

        Args:
            data: What the model learned from.
            recipe: What the model's file says of how its features were made.

        Raises:
            ProblemError: It says nothing.
        """
        del data, recipe
        return ()

    def value_names(self, data: Settings, recipe: str) -> tuple[str, ...]:
        """What values are of that are predicted; none where nobody knows.

        Args:
            data: What the model learned from.
            recipe: What the model's file says of how its features were made.
        """
        del data, recipe
        return ()

    def scan(self, data: Settings, reading: Reading, on_first_report: "OnFirstReport") -> "Scanned":
        """Scan all of the data, in memory that does not grow with it.

        Args:
            data: Which; a path in it is absolute.
            reading: What reading it may need.
            on_first_report: Called once with what is known first.

        Raises:
            ProblemError: It cannot be read, and why.
        """
        from gpupanel.trainer.datasets.scanning.examples import scan_examples

        return scan_examples(self.read(data, reading), reading.on_progress, on_first_report)


def scan_unlabelled(
    found: AllExamples, reading: Reading, on_first_report: "OnFirstReport"
) -> "Scanned":
    """Scan examples that nobody need know the labels of.

    Args:
        found: All of a source.
        reading: As it was read with.
        on_first_report: Called once with what is known first.
    """
    from gpupanel.trainer.datasets.scanning.examples import scan_examples

    count = len(found)
    labels = np.zeros(count, np.int32) if found.labels is None else found.labels
    whole = DataSet(
        training=Examples(found.features, labels, found.unreadable),
        class_names=found.class_names or ("",),
        notes=found.notes,
    )

    def without_labels(scanned: "Scanned") -> "Scanned":
        if found.labels is not None:
            return scanned
        sets = {name: replace(each, labels=None) for name, each in scanned.sets.items()}
        return replace(scanned, sets=sets, class_names=(), target=found.target)

    def report_first(scanned: "Scanned") -> None:
        on_first_report(without_labels(scanned))

    return without_labels(scan_examples(whole, reading.on_progress, report_first))


def all_examples(found: DataSet) -> AllExamples:
    """The sets of a source, one after the other."""
    parts = [found.training, *filter(None, (found.validation, found.test))]
    whole = chained(parts)
    return AllExamples(
        whole.features,
        whole.labels,
        found.target,
        found.class_names,
        len(found.training),
        validation_count=len(found.validation or ()),
        groups=found.groups,
        columns=found.cells,
        unreadable=whole.unreadable,
        notes=found.all_notes(are_left_out=True),
        inputs=found.inputs,
        whole=found,
    )


def source_of(data: DataSettings) -> Source[DataSettings]:
    """What reads that data: the ``SOURCE`` in the file that its ``module`` names."""
    module = importlib.import_module(f"gpupanel.trainer.datasets.sources.{data.module}")
    source: Source[DataSettings] = module.SOURCE
    return source


def read_data(data: DataSettings, reading: Reading) -> DataSet:
    """The examples of a source, read and checked.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    return source_of(data).read(data, reading)
