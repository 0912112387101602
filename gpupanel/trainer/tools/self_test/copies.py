"""Numbers that are copied from the host to a device and between devices, and come back the same."""

import time
from typing import Final

import numpy as np
import tensorflow as tf

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.self_test import CaseResult, SelfTestCase, SelfTestPlace
from gpupanel.trainer.tools.self_test.finding import BYTES_PER_MIB, CaseFinding

_HOST: Final = "/device:CPU:0"
_MIB: Final = 64
_CPU_MIB: Final = 8
_ROUNDS: Final = 4
"""The first one takes memory and is not timed."""


def transfer(case: SelfTestCase) -> CaseFinding:
    """From the host to a device and back; the figure is of the way there."""
    (place,) = case.places
    data = _numbers(place)
    with tf.device(_HOST):
        host = tf.constant(data)
    seconds = []
    for _ in range(_ROUNDS):
        there, took_s = _copied(host, place)
        seconds.append(took_s)
        if not np.array_equal(_on_host(there), data):
            return _wrong(f"between host and {place.logical_device.removeprefix('/device:')}")
    return CaseFinding(CaseResult.PASSED, _speed(data.nbytes, seconds, case))


def pair_transfer(case: SelfTestCase) -> CaseFinding:
    """From one device to the other and back; the figure is of the slower direction."""
    first, second = case.places
    data = _numbers(first)
    with tf.device(_HOST):
        host = tf.constant(data)
    at_first, _ = _copied(host, first)
    there_s, back_s = [], []
    for _ in range(_ROUNDS):
        there, took_s = _copied(at_first, second)
        there_s.append(took_s)
        back, took_s = _copied(there, first)
        back_s.append(took_s)
        for one, way in ((there, case.places), (back, case.places[::-1])):
            if not np.array_equal(_on_host(one), data):
                names = [place.logical_device.removeprefix("/device:") for place in way]
                return _wrong(f"from {names[0]} to {names[1]}")
    slower = max(there_s, back_s, key=lambda took: min(took[1:]))
    return CaseFinding(CaseResult.PASSED, _speed(data.nbytes, slower, case))


def _numbers(place: SelfTestPlace) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Every bit at random: what does not compress, and repeats nowhere."""
    mib = _CPU_MIB if place.device_key == CPU_KEY else _MIB
    count = mib * BYTES_PER_MIB // 8
    return np.random.default_rng(7).integers(-(2**63), 2**63 - 1, count, np.int64)


def _copied(tensor: tf.Tensor, place: SelfTestPlace) -> tuple[tf.Tensor, float]:
    start_s = time.perf_counter()
    with tf.device(place.logical_device):
        there = tf.identity(tensor)
        # A number of it is there only once all of it is.
        there[:1].numpy()
    return there, time.perf_counter() - start_s


def _on_host(tensor: tf.Tensor) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.asarray(tensor.numpy())


def _speed(size: int, seconds: list[float], case: SelfTestCase) -> float | None:
    """MiB a second; ``None`` within the host's memory, where TensorFlow copies nothing."""
    if all(place.device_key == CPU_KEY for place in case.places):
        return None
    return round(size / BYTES_PER_MIB / max(min(seconds[1:]), 1e-9), 1)


def _wrong(way: str) -> CaseFinding:
    return CaseFinding(
        CaseResult.WRONG, detail=f"Numbers that were copied {way} came out other ones."
    )
