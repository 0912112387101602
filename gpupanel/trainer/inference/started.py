"""The tasks ``evaluate`` and ``predict`` from a started process to their end."""

import time
from concurrent.futures import ThreadPoolExecutor

from gpupanel.domain.event_details import names_for_event
from gpupanel.domain.events import DataReady, Phase
from gpupanel.trainer.datasets.download import OnDownload
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.inference.model_file import check_model_file, saved_model_path
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.start_up import StartUp, decoded_data
from gpupanel.trainer.started_run import StartedRun


def infer_started(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    """Start up as training does and do the task.

    Returns:
        What ended it early; ``None`` when it came to its end.

    Raises:
        ProblemError: The model, the data or the devices cannot be used.
        StartUpInterrupted: Somebody asked to stop before it began.
        OSError: Something cannot be written.
    """
    start_up = StartUp(run, events, interruptions)
    start_up.go_on()
    with ThreadPoolExecutor(1, thread_name_prefix="read-data") as pool:
        reading = start_up.begin_reading(pool, _read)
        start_up.import_tensorflow()
        start_up.go_on()

        from gpupanel.trainer.inference.infer import Inference
        from gpupanel.trainer.training import prepare_devices

        prepare_devices(run, events)
        start_up.go_on()
        events.phase(Phase.LOADING_DATA)
        examples = reading()
    _report_data(run, examples, events)
    start_up.go_on()
    return Inference(run, examples, events, interruptions, record).infer()


def _read(run: StartedRun, on_download: OnDownload) -> InferenceExamples:
    check_model_file(saved_model_path(run.profile.model))
    cache_dir = decoded_data(run.layout)
    return read_inference_examples(run.profile, on_download, cache_dir, run.data_code)


def _report_data(run: StartedRun, examples: InferenceExamples, events: EventWriter) -> None:
    held_back = run.profile.inference.examples == "validation"
    events.write(
        DataReady(
            time_s=time.time(),
            training_examples=0 if held_back else len(examples),
            validation_examples=len(examples) if held_back else 0,
            feature_shape=examples.feature_shape,
            class_count=len(examples.class_names),
            class_names=names_for_event(examples.class_names),
            steps_per_epoch=0,
        )
    )
