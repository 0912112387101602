"""From data settings to examples: the one way for training, inference and preview."""

import importlib
from pathlib import Path

from gpupanel.domain.data import DataSettings
from gpupanel.trainer.datasets.download import OnDownload
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading, Source
from gpupanel.trainer.user_code import RunCode


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
