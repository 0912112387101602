"""What is known of data once the content of all its files was read."""

from dataclasses import replace

import numpy as np

from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.fingerprint import Fingerprint, take_fingerprint


def whole_print(data: DataSet) -> Fingerprint:
    """With the content of the files."""
    taken = take_fingerprint(data)
    assert data.files is not None
    digests = np.array(data.files.digests_of(range(len(taken.files))), taken.files.digests.dtype)
    return replace(taken, files=taken.files.with_digests(digests))
