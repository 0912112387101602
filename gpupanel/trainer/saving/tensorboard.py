"""Event files for TensorBoard, in the layout of Keras's own callback."""

import secrets
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import tensorflow as tf

from gpupanel.domain.events import ProblemReported
from gpupanel.domain.outcome import Metrics
from gpupanel.files.guarded_files import make_folder, opened_folder
from gpupanel.files.named_descriptors import name_of_folder
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.saving.saving_problems import tensorboard_not_written

_VALIDATION_PREFIX = "val_"
_FLUSH_INTERVAL_S = 2.0


class TensorBoardFiles:
    """Writes each epoch's metrics below ``train`` and ``validation``.

    ``tf.summary.scalar`` wants the package tensorboard; the same records are written here
    without it.

    No failure of theirs ends a training: the first one is reported, and nothing more is written.

    Args:
        folder: Made with the first file.
        events: Where a failure is reported.
    """

    def __init__(self, folder: Path, events: EventWriter) -> None:
        self._folder = folder
        self._events = events
        self._writers: dict[str, tf.summary.SummaryWriter] = {}
        self._flushed_s = float("-inf")
        self._has_failed = False
        self._opened = ExitStack()

    def write_epoch(self, epoch: int, metrics: Metrics) -> None:
        """Write the metrics that are there.

        Raises:
            OSError: An event cannot be written.
        """
        if self._has_failed:
            return
        try:
            self._write(epoch, metrics)
        except Exception as error:  # noqa: BLE001 - TensorFlow raises what the system says
            self._report(error)

    def _write(self, epoch: int, metrics: Metrics) -> None:
        for name, value in metrics.model_dump(exclude_none=True).items():
            part = "validation" if name.startswith(_VALIDATION_PREFIX) else "train"
            tag = f"epoch_{name.removeprefix(_VALIDATION_PREFIX)}"
            with self._writer(part).as_default():
                tf.summary.write(tag, tf.constant(value), step=epoch, metadata=_scalar_metadata())
        now_s = time.monotonic()
        if now_s - self._flushed_s >= _FLUSH_INTERVAL_S:
            # Epochs may be shorter than it takes to force files to disk.
            self._flushed_s = now_s
            for writer in self._writers.values():
                writer.flush()

    def _writer(self, part: str) -> tf.summary.SummaryWriter:
        if part not in self._writers:
            folder = self._folder / part
            make_folder(self._folder)
            make_folder(folder, self._folder.parent)
            opened = self._opened.enter_context(opened_folder(folder, self._folder.parent))
            # A name that nobody can have put a link under: TensorFlow opens it by its name.
            suffix = f".{secrets.token_hex(8)}.v2"
            writer = tf.summary.create_file_writer(
                str(name_of_folder(opened)), filename_suffix=suffix
            )
            self._writers[part] = writer
        return self._writers[part]

    def _report(self, error: Exception) -> None:
        if not self._has_failed:
            self._has_failed = True
            problem = tensorboard_not_written(error)
            self._events.write(ProblemReported(time_s=time.time(), problem=problem))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for writer in self._writers.values():
            try:
                # Closing alone drops what cannot be written, and does not say so.
                writer.flush()
                writer.close()
            except Exception as failure:  # noqa: BLE001 - as above
                self._report(failure)
        self._opened.close()


def _scalar_metadata() -> tf.compat.v1.SummaryMetadata:
    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "scalars"
    metadata.data_class = 1  # DATA_CLASS_SCALAR in tensorboard's summary.proto
    return metadata
