"""From data settings to examples: the one way for training and preview."""

from pathlib import Path
from typing import assert_never

from gpupanel.domain.data import DataSettings, DigitsData, ImagesData, KerasData, NpzData
from gpupanel.trainer.datasets.digits import read_digits
from gpupanel.trainer.datasets.download import OnDownload
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.images import read_images
from gpupanel.trainer.datasets.keras_data import read_keras_data
from gpupanel.trainer.datasets.npz import read_npz


def read_data(
    data: DataSettings, on_download: OnDownload, cache_dir: Path | None = None
) -> DataSet:
    """The examples of a source, read and checked.

    Args:
        data: Which source; a path in it is absolute.
        on_download: Told how far a download is.
        cache_dir: A folder that belongs to the run, for ``cache = "disk"``.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    match data:
        case DigitsData():
            return read_digits()
        case KerasData():
            return read_keras_data(data, on_download)
        case NpzData():
            return read_npz(data)
        case ImagesData():
            return read_images(data, cache_dir)
    assert_never(data)
