"""``python -m gpupanel.trainer.tools.rate_range``: the loss while the learning rate rises.

A :class:`~gpupanel.domain.rate_range.RateRangeRequest` as JSON on standard input is answered by a
:class:`~gpupanel.domain.rate_range.RateRange` on standard output. One device trains a model of its
own for some steps, as the loop does but for augmentation; nothing is kept. What is wrong with data
or model is inside the answer.
"""

import sys

from gpupanel.domain.data import DataCache
from gpupanel.domain.rate_range import (
    RatePoint,
    RateRange,
    RateRangeRequest,
    SmoothedLoss,
    rates,
    suggested_rate,
)
from gpupanel.domain.training import HalfPrecision
from gpupanel.trainer.datasets.checked_form import check_taken
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.models.kept_head import kept_classes, with_kept_classes
from gpupanel.trainer.models.saved_recipe import reading_to_train


def try_rates(request: RateRangeRequest) -> RateRange:
    """Train with rising learning rates; or the problems that a training would have."""
    if needs_download(request.data):
        return RateRange(needs_download=True)
    if request.data.is_code or request.model.is_code:
        return RateRange(needs_start=True)
    try:
        points = _points(request)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        return RateRange(problems=problems_of(error, what="Trying learning rates"))
    return RateRange(points=points, suggested=suggested_rate(points))


def _points(request: RateRangeRequest) -> tuple[RatePoint, ...]:
    training = request.training
    reading = reading_to_train(
        Reading(no_download, seed=training.seed), request.model, request.data
    )
    read = read_data(request.data.model_copy(update={"cache": DataCache.NONE}), reading)
    kept = kept_classes(request.model, request.data)
    check_taken(request.model, request.data, read)
    return _trained(request, with_kept_classes(split(read, request.data, training.seed), kept))


def _trained(request: RateRangeRequest, divided: Split) -> tuple[RatePoint, ...]:
    import keras  # takes seconds
    import numpy as np
    import tensorflow as tf

    from gpupanel.trainer.models.build import build_model
    from gpupanel.trainer.models.network import Building
    from gpupanel.trainer.models.objectives import make_objective
    from gpupanel.trainer.models.optimizers import make_optimizer
    from gpupanel.trainer.models.precision import half_precision_here, set_precision
    from gpupanel.trainer.models.recomputed import recomputed_segments
    from gpupanel.trainer.parts.loss_scale import LossScale
    from gpupanel.trainer.periods import freeze_base
    from gpupanel.trainer.run_objectives import trained_objective
    from gpupanel.trainer.steps.batch_part import BatchPart
    from gpupanel.trainer.steps.order import make_epoch_order
    from gpupanel.trainer.steps.replica_steps import TrainingStep

    training = request.training
    half = half_precision_here(training)
    set_precision(half)
    keras.utils.set_random_seed(training.seed)
    built = build_model(request.model, Building(divided.data, divided.training))
    if request.model.fine_tuning is not None:
        # What is searched for is the rate of the first epochs.
        freeze_base(built)
    optimizer = make_optimizer(training)
    optimizer.build(built.trained.trainable_variables)
    measured = make_objective(divided.data.target, built.value_units, built.value_means)
    step = TrainingStep(
        built.trained,
        trained_objective(request.data, training, divided, measured),
        optimizer,
        seed=training.seed,
        micro_batches=training.accumulation_steps,
        jit_compile=False,
        clip_norm=training.clip_norm,
        segments=recomputed_segments(built.trained, training.recompute),
        loss_scale=LossScale() if half is HalfPrecision.FLOAT16 else None,
    )
    call = tf.function(lambda *given: step(*given).sums, autograph=False, reduce_retracing=True)
    order = make_epoch_order(request.data, divided, training.seed)
    indices, epoch = np.empty(0, np.int32), 0
    points: list[RatePoint] = []
    smoothed = SmoothedLoss()
    for rate in rates():
        if not len(indices):
            epoch += 1
            indices = order.of(epoch)
        batch, indices = np.split(indices, [training.global_batch_size])
        optimizer.learning_rate = rate
        features, labels = divided.training.read(batch), divided.training.labels[batch]
        given = [tf.constant(each) for each in (features, labels)]
        numbers = (np.float32(len(batch)), np.int32(0), np.int64(len(points)))
        part = BatchPart(*map(tf.constant, numbers))
        loss = float(call(*given, part)[0]) / len(batch)
        mean = smoothed.add(loss)
        if smoothed.has_diverged(mean):
            break
        points.append(RatePoint(rate=rate, loss=loss, smoothed=mean))
    return tuple(points)


def main() -> int:
    """Answer the request on standard input."""
    request = RateRangeRequest.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(try_rates(request).model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
