"""What the file of a source offers: its ``SOURCE``; the one way from settings to examples."""

import importlib
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataSettings
from gpupanel.domain.data_source import DataSource
from gpupanel.trainer.datasets.download import OnDownload
from gpupanel.trainer.datasets.examples import AllExamples, DataSet, chained
from gpupanel.trainer.user_code import RunCode

Settings = TypeVar("Settings", bound=DataSource, contravariant=True)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source may need to be read.

    Attributes:
        on_download: Called with how far a download is.
        cache_dir: A folder that belongs to the run, for ``cache = "disk"``.
        code: What a run has of the Python code that loads the data. Without it none is carried
            out.
        seed: For what that code draws.
        must_differ: Refuse examples that are all of one class: nothing can be learned from them,
            but a trained model can be evaluated on them.
    """

    on_download: OnDownload
    cache_dir: Path | None = None
    code: RunCode | None = None
    seed: int = 0
    must_differ: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at the data finds.

    Attributes:
        offers: What can be chosen, by the setting's key.
        found: What is taken where nothing was chosen, by the setting's key.
    """

    offers: Mapping[str, tuple[Choice, ...]] = field(default_factory=dict)
    found: Mapping[str, str] = field(default_factory=dict)


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
        found = self.read(data, replace(reading, must_differ=False))
        parts = [found.training, *filter(None, (found.validation, found.test))]
        whole = chained(parts)
        return AllExamples(
            whole.features,
            whole.labels,
            found.target,
            found.class_names,
            len(found.training),
            validation_count=len(found.validation or ()),
        )

    def find(self, data: Settings) -> Found:
        """What is found where nobody chose, from a look that reads no examples.

        Raises:
            ProblemError: The data cannot be looked at, and why.
        """
        del data
        return Found()


def source_of(data: DataSettings) -> Source[DataSettings]:
    """What reads that data: the ``SOURCE`` in the file that its ``module`` names."""
    module = importlib.import_module(f"gpupanel.trainer.datasets.{data.module}")
    source: Source[DataSettings] = module.SOURCE
    return source


def read_data(
    data: DataSettings,
    on_download: OnDownload,
    cache_dir: Path | None = None,
    code: RunCode | None = None,
    seed: int = 0,
    *,
    must_differ: bool = True,
) -> DataSet:
    """The examples of a source, read and checked; :class:`Reading` says what each word means.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    reading = Reading(on_download, cache_dir, code, seed, must_differ)
    return source_of(data).read(data, reading)
