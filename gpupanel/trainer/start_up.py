"""What happens before the first step: data is read while TensorFlow is imported."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.events import DataProgressed, DownloadProgressed, Phase
from gpupanel.files.locks import lock_in_folder
from gpupanel.trainer.datasets.checked_form import check_taken
from gpupanel.trainer.datasets.fingerprint import take_fingerprint
from gpupanel.trainer.datasets.images.decoding import ImageDecoding
from gpupanel.trainer.datasets.learned_from import known_content
from gpupanel.trainer.datasets.progress import OnProgress, ignore_progress
from gpupanel.trainer.datasets.source import Reading, read_data, source_of
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.datasets.trained_form import check_form
from gpupanel.trainer.device_log import show_device_log
from gpupanel.trainer.downloads.download import fetch
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.downloads.progress import OnDownload
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.models.array_classes import with_kept_arrays
from gpupanel.trainer.models.kept_head import kept_classes, with_kept_classes
from gpupanel.trainer.models.saved_recipe import reading_to_train
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.tensorflow_import import import_tensorflow

if TYPE_CHECKING:
    import tensorflow as tf

_LOOK_S = 0.2

Read = TypeVar("Read")


class StartUpInterrupted(Exception):  # noqa: N818 - no error: somebody asked
    """Ends a start-up; there is nothing to save."""

    def __init__(self, interruption: Interruption) -> None:
        super().__init__(interruption.name)
        self.interruption = interruption


class StartUp:
    """The steps of a start-up, in whose gaps a stop is heard."""

    def __init__(self, run: StartedRun, events: EventWriter, interruptions: Interruptions) -> None:
        self._run = run
        self._events = events
        self._interruptions = interruptions
        self._last_progress_s = float("-inf")
        self._decoding = ImageDecoding(comes_later=True)

    def go_on(self) -> None:
        """Check whether somebody asked to stop or to suspend; a checkpoint waits for a step.

        Raises:
            StartUpInterrupted: Somebody did, or the supervisor is gone.
        """
        ending = self._interruptions.ending()
        if ending is not None:
            raise StartUpInterrupted(ending)

    def read_and_prepare(
        self, read: Callable[[StartedRun, Reading], Read]
    ) -> "tuple[Read, tf.distribute.Strategy | None]":
        """Read the data while TensorFlow is imported, and configure the devices.

        Returns:
            What was read, and what :func:`~gpupanel.trainer.training.prepare_devices` gives.

        Raises:
            ProblemError: Data or devices cannot be used, or TensorFlow cannot be imported.
            StartUpInterrupted: Somebody asked to stop.
        """
        self.go_on()
        self._fetch_weights()
        with ThreadPoolExecutor(1, thread_name_prefix="read-data") as pool:
            examples = self._begin_reading(pool, read)
            try:
                joined = self._import_and_configure()
            finally:
                self._decoding.settle()
            return examples(), joined

    def _import_and_configure(self) -> "tf.distribute.Strategy | None":
        self.import_tensorflow()
        self.go_on()

        from gpupanel.trainer.training import prepare_devices

        joined = prepare_devices(self._run, self._events)
        self.go_on()
        self._events.phase(Phase.LOADING_DATA)
        if self._run.profile.data.is_decoded:
            from gpupanel.trainer.datasets.images.jpeg_decoder import make_jpeg_decoder

            self._decoding.jpegs = make_jpeg_decoder()
        return joined

    def _begin_reading(
        self, pool: ThreadPoolExecutor, read: Callable[[StartedRun, Reading], Read]
    ) -> Callable[[], Read]:
        """Begin to read the data; what is returned gives the examples, or raises why not.

        A download waits until it is asked for, so that it happens in its own phase; code of the
        person's own waits until the devices are configured, since it may use them.
        """
        data = self._run.profile.data
        # Imported now: beside the import of TensorFlow the two would wait for each other's modules.
        source_of(data)
        reading = replace(
            reading_for(self._run, self._on_download, self._on_progress), decoding=self._decoding
        )
        if data.is_code:
            return lambda: read(self._run, reading)
        if needs_download(data):
            return lambda: self._read_downloaded(read, reading)
        return pool.submit(read, self._run, reading).result

    def fetch(self) -> None:
        """Download what the run needs and is not here; who does not lead waits until it is.

        Raises:
            ProblemError: It cannot be downloaded.
            StartUpInterrupted: Somebody asked to stop.
        """
        for settings in (self._run.profile.data, self._run.profile.model):
            if self._run.leads and needs_download(settings):
                self._events.phase(Phase.LOADING_DATA)
                fetch(settings, self._on_download)
            while needs_download(settings):
                self.go_on()
                time.sleep(_LOOK_S)

    def _fetch_weights(self) -> None:
        """Download what the model begins with, where it is not here: one process of the run."""
        model = self._run.profile.model
        if needs_download(model):
            self._events.phase(Phase.LOADING_DATA)
            with lock_in_folder(self._run.layout.root / "download.lock"):
                fetch(model, self._on_download)

    def import_tensorflow(self) -> None:
        """Import TensorFlow and Keras.

        Raises:
            ProblemError: They cannot be imported.
            Exception: There is not enough memory for them.
        """
        self._events.phase(Phase.IMPORTING_TENSORFLOW)
        if any(device.kind is DeviceKind.GPU for device in self._run.process.devices):
            show_device_log()
        import_tensorflow()

    def _read_downloaded(
        self, read: Callable[[StartedRun, Reading], Read], reading: Reading
    ) -> Read:
        # One process of the run downloads; the others then find it there.
        with lock_in_folder(self._run.layout.root / "download.lock"):
            return read(self._run, reading)

    def _on_download(self, name: str, bytes_done: int, bytes_total: int | None) -> None:
        self.go_on()
        self._events.write(
            DownloadProgressed(
                time_s=time.time(), name=name, bytes_done=bytes_done, bytes_total=bytes_total
            )
        )

    def _on_progress(self, doing: str, done: int, total: int) -> None:
        self.go_on()
        now_s = time.monotonic()
        if now_s - self._last_progress_s >= _LOOK_S or done == total:
            self._last_progress_s = now_s
            self._events.write(
                DataProgressed(time_s=time.time(), doing=doing, done=done, total=total)
            )


def reading_for(
    run: StartedRun, on_download: OnDownload, on_progress: OnProgress = ignore_progress
) -> Reading:
    """What reading the data of a run may need."""
    return Reading(
        on_download=on_download,
        code=run.data_code,
        seed=run.profile.training.seed,
        on_progress=on_progress,
    )


def read_split(run: StartedRun, reading: Reading) -> Split:
    """What is trained on and what validates.

    Raises:
        ProblemError: The data cannot be used, or does not fit the model.
    """
    profile = run.profile
    reading = reading_to_train(reading, profile.model, profile.data, run.start_model)
    data = read_data(profile.data, reading)
    check_form(profile, data)
    check_taken(profile.model, profile.data, data)
    data = with_kept_arrays(data, profile.data, profile.model, run.start_model)
    kept = None
    if data.arrays_of is None:
        kept = kept_classes(profile.model, profile.data, run.start_model)
    examples = with_kept_classes(split(data, profile.data, profile.training.seed), kept)
    if not run.leads:
        return examples
    # Here, while TensorFlow is imported, it costs next to no time.
    content = known_content(data.training.features, examples.training.features)
    return replace(examples, fingerprint=take_fingerprint(data), content=content)
