"""The process that prepares data sets, whose catalogue has some small ones besides.

``python prepare_tiny_catalogue.py NAME FOLDER``.
"""

import os
import sys
import time

import numpy as np
import tensorflow_datasets as tfds

from gpupanel.trainer.datasets.catalogue import bounded_requests
from gpupanel.trainer.datasets.catalogue.preparing import main


class TinyCats(tfds.core.GeneratorBasedBuilder):
    """Twelve cats and dogs of one colour each, of different sizes."""

    VERSION = tfds.core.Version("1.2.0")
    BUILDER_CONFIGS = (
        tfds.core.BuilderConfig(name="small"),
        tfds.core.BuilderConfig(name="other"),
    )

    def _info(self):
        features = {
            "image": tfds.features.Image(shape=(None, None, 3)),
            "label": tfds.features.ClassLabel(names=["cat", "dog"]),
            "id": tfds.features.Text(),
            "weights": tfds.features.Tensor(shape=(2, 3), dtype=np.float32),
        }
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(features),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, _downloads):
        return {"train": self._examples(0, 12), "test": self._examples(12, 4)}

    def _examples(self, first, count):
        for number in range(first, first + count):
            yield (
                number,
                {
                    "image": np.full((8 + number % 3, 9, 3), 10 * number, np.uint8),
                    "label": number % 2,
                    "id": f"number {number}",
                    "weights": np.full((2, 3), number, np.float32),
                },
            )

    def _generate_examples(self):
        raise NotImplementedError


class Unreachable(TinyCats):
    """Of a server that is not there."""

    BUILDER_CONFIGS = ()

    def _split_generators(self, _downloads):
        raise ConnectionError("Max retries exceeded: the name of the server is not known")


class Endless(TinyCats):
    """Never comes to its end."""

    BUILDER_CONFIGS = ()

    def _examples(self, first, count):
        while True:
            yield from super()._examples(first, count)
            time.sleep(600)


class OfServer(TinyCats):
    """Of a file that a server of the test sends; one of them has the checksum of another one."""

    BUILDER_CONFIGS = ()

    @property
    def url_infos(self):
        known = tfds.core.download.checksums.UrlInfo(
            size=tfds.core.utils.Size(4), checksum="0" * 64, filename="altered"
        )
        return {f"{os.environ['TINY_SERVER']}/altered": known}

    def _split_generators(self, downloads):
        downloads.download(f"{os.environ['TINY_SERVER']}/{os.environ['TINY_FILE']}")
        return super()._split_generators(downloads)


if __name__ == "__main__":
    bounded_requests.SILENT_S = float(os.environ.get("TINY_SILENT_S", bounded_requests.SILENT_S))
    sys.exit(main())
