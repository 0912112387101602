"""The examples of a run as a GPU holds them, and which GPUs get a copy of all of them."""

import math
from collections.abc import Iterable, Sequence

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data_on_device import fits_on_device
from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Array, Examples, held_rows
from gpupanel.trainer.started_run import process_place

_BYTES_PER_MIB = 2**20


def as_on_gpu(dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type of features there: TensorFlow has no kernel that gathers bytes on a GPU.

    Halves hold 0 to 2,048 exactly. Integers of 32 bits it keeps on the host, whatever device it is
    told, and copies all of them in each step: they are held as floats of the same bits.
    """
    held = {np.dtype(np.uint8): np.float16, np.dtype(np.int32): np.float32}
    return np.dtype(held.get(dtype, dtype))


def as_bits(array: Array, device: str) -> Array:
    """Integers of 32 bits as that device holds them; whatever else there is as it is."""
    return array.view(np.float32) if array.dtype == np.int32 and "GPU" in device else array


def features_of(held: tf.Tensor, dtype: np.dtype[np.generic]) -> tf.Tensor:
    """Features as a model takes them, of what a device holds.

    Args:
        held: Of :func:`as_bits`, or some rows of it.
        dtype: Of the array that was held.
    """
    return tf.bitcast(held, tf.int32) if dtype == np.int32 and held.dtype.is_floating else held


def labels_of(held: tf.Tensor, dtype: np.dtype[np.generic], device: str) -> tf.Tensor:
    """Labels as an objective takes them on that device.

    Class numbers have 64 bits on a GPU: TensorFlow compares those of 32 bits on the host, in each
    step, and waits for them.
    """
    labels = features_of(held, dtype)
    return tf.cast(labels, tf.int64) if dtype == np.int32 and "GPU" in device else labels


def kept_bytes(examples: Examples) -> int:
    """What features and labels of one example take on a GPU that holds all of them."""
    labels = examples.labels
    of_labels = math.prod(labels.shape[1:]) * labels.dtype.itemsize
    numbers = math.prod(examples.feature_shape)
    return numbers * as_on_gpu(examples.features.dtype).itemsize + of_labels


def with_data_placed(
    plan: LaunchPlan, sets: Iterable[Examples | None], weights: Sequence[keras.Variable]
) -> LaunchPlan:
    """The plan, which says of each replica whether its examples stay on the host.

    Where it says so already it stays as it is. Model and optimizer are there; what the plan limits
    nobody it is taken to have all memory of.

    Args:
        plan: Of the run.
        sets: All that the run steps over.
        weights: Those that learn, whose gradients take as much.
    """
    data = sum(
        len(each) * kept_bytes(each)
        for each in sets
        if each is not None and held_rows(each.features) is not None
    )
    gradients = sum(math.prod(each.shape) * tf.as_dtype(each.dtype).size for each in weights)
    rooms = _rooms_mib(plan)
    here, replicas = process_place(), []
    for replica in plan.replicas:
        room, on_host = rooms.get(replica.logical_device), replica.data_on_host
        if on_host is None and replica.process == here and room is not None:
            held = tf.config.experimental.get_memory_info(replica.logical_device[8:])["current"]
            on_host = not fits_on_device(data, room * _BYTES_PER_MIB - held - gradients)
        replicas.append(replica.model_copy(update={"data_on_host": on_host}))
    return plan.model_copy(update={"replicas": tuple(replicas)})


def _rooms_mib(plan: LaunchPlan) -> dict[str, int | None]:
    """What there is at most of each logical GPU of this process, by TensorFlow's name."""
    process = plan.gang[process_place()]
    totals = {each.key: each.memory_total_mib for each in process.devices}
    limits = [
        limit
        for each in sorted(process.devices, key=lambda each: each.index)
        if each.key in process.logical_gpus
        for limit in each.logical_limits_mib or (None,)
    ]
    return {
        f"/device:GPU:{number}": limit or totals[key]
        for number, (key, limit) in enumerate(zip(process.logical_gpus, limits, strict=True))
    }
