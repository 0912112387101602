"""Places what calls take on logical CPUs and prints what was found, as JSON.

``python place_parts.py``; run with one process. Devices are configured once.
"""

import json
import threading
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from gpupanel.domain.strategy import StrategyKind
from gpupanel.trainer.datasets.examples import Array, Examples, Indices
from gpupanel.trainer.parts.batch_division import divide_batch
from gpupanel.trainer.steps.batch_part import BatchPart
from gpupanel.trainer.steps.calls import Calls
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.feeds import make_feed
from gpupanel.trainer.steps.replica_sums import ReplicaSums
from gpupanel.trainer.steps.streamed_feed import MostSteps, StreamedFeed
from gpupanel.trainer.steps.worker_feeds import ShippedFeed
from gpupanel.trainer.strategies.make_strategy import make_strategy
from tests.unit.trainer.call_steps import plan_of

REPLICAS = 2
PATIENCE_S = 60.0
RANDOM = np.random.default_rng(5)
PIXELS = RANDOM.integers(0, 200, (300, 4, 3), np.uint8)
LABELS = RANDOM.integers(0, 9, 300).astype(np.int32)


@dataclass
class Rows:
    """Features that stay elsewhere; reading them can be held up."""

    threads: set[str] = field(default_factory=set)
    read_so_far: list[int] = field(default_factory=list)
    may_be_read: threading.Event = field(default_factory=threading.Event)
    shape: tuple[int, ...] = PIXELS.shape
    dtype: np.dtype[np.generic] = PIXELS.dtype

    def read(self, indices: Indices) -> Array:
        assert self.may_be_read.wait(PATIENCE_S)
        self.threads.add(threading.current_thread().name)
        self.read_so_far.extend(indices.tolist())
        return np.asarray(PIXELS[indices])


def new_feed(first_device: int = 1) -> tuple[StreamedFeed, Rows]:
    rows = Rows()
    rows.may_be_read.set()
    devices = {number: f"/device:CPU:{first_device + number}" for number in range(REPLICAS)}
    return StreamedFeed(Examples(rows, LABELS), devices), rows


def where(tensors: tuple[tf.Tensor, ...]) -> list[str]:
    return [tensor.device.rpartition("device:")[2] for tensor in tensors]


def is_placed_where_it_is_computed_with() -> bool:
    feed, rows = new_feed()
    order = RANDOM.permutation(300).astype(np.int32)
    bounds = divide_batch((24, 8), 32).bounds
    first, second = order[:96].reshape(3, 32), order[96:160].reshape(2, 32)
    feed.expect([(order[:288].reshape(9, 32), bounds)])
    feed.tensors(first, bounds)
    labels, starts, *placed = tensors = feed.tensors(second, bounds)
    feed.close()
    return (
        where(tensors) == ["CPU:0", "CPU:0", "CPU:1", "CPU:2"]
        and np.array_equal(placed[0], PIXELS[second[:, :24]])
        and np.array_equal(placed[1], PIXELS[second[:, 24:]])
        and np.array_equal(labels, LABELS[second])
        and starts.numpy().tolist() == [0, 24]
        and all(name.startswith("look-ahead") for name in rows.threads)
    )


def is_read_for_the_bounds_that_hold() -> bool:
    """What was read ahead for other shares, or other examples, is not what a call gets."""
    feed, _ = new_feed()
    batches = np.arange(64, dtype=np.int32).reshape(2, 32)
    before, after = (divide_batch(shares, 32).bounds for shares in ((16, 16), (8, 24)))
    feed.expect([(batches, before)])
    _, _, *placed = feed.tensors(batches, after)
    other = batches[::-1]
    _, _, *reversed_ = feed.tensors(other, before)
    feed.expect([(other, after)])
    _, _, *expected = feed.tensors(other, after)
    feed.close()
    return (
        np.array_equal(placed[0], PIXELS[batches[:, :8]])
        and np.array_equal(placed[1], PIXELS[batches[:, 8:]])
        and np.array_equal(reversed_[0], PIXELS[other[:, :16]])
        and np.array_equal(expected[1], PIXELS[other[:, 8:]])
    )


def most_steps(
    shares: tuple[int, ...], processes: tuple[int, ...] = (), *, with_neighbour: bool = False
) -> int | None:
    """Of batches of examples of 1 MiB."""
    rows = Rows(shape=(4, 2**20), dtype=np.dtype(np.uint8))
    devices = dict.fromkeys(range(len(shares)), "/device:CPU:0")
    examples = Examples(rows, LABELS[:4])
    bound = MostSteps(examples.example_bytes, processes, with_neighbour)
    feed = StreamedFeed(examples, devices, bound)
    return feed.most_steps(divide_batch(shares, sum(shares)).bounds)


def steps_of_a_call() -> dict[str, bool]:
    # With its label an example is of 1 MiB.
    rows = Rows(shape=(4, 2**20 - LABELS.itemsize), dtype=np.dtype(np.uint8))
    shipped = ShippedFeed(Examples(rows, LABELS[:4]))
    in_memory = make_feed(
        Examples(np.zeros((4, 2**20), np.uint8), LABELS[:4]), plan_of(1), DataCopies()
    )
    # Zeros that nobody writes take no memory: 72 MiB, of which one row validates.
    much = Examples(np.zeros((9, 2**23), np.uint8), LABELS[:9])
    few = make_feed(much.subset(np.array([4], np.int32)), plan_of(1), DataCopies())
    return {
        "few_of_much": isinstance(few, StreamedFeed),
        "fullest_process": (
            most_steps((16,)) == most_steps((12, 4)) == most_steps((15,), with_neighbour=True) == 8
            and most_steps((12, 4), (0, 1)) == most_steps((4, 12), (0, 1)) == 10
            and most_steps((4, 4, 8, 2), (0, 1, 1, 2)) == 10
        ),
        "large_step": most_steps((1000,)) == most_steps((1, 129), (0, 1)) == 1,
        "workers": (shipped.most_steps(16), shipped.most_steps(1000)) == (8, 1),
        "in_memory": in_memory.most_steps(divide_batch((4,), 4).bounds) is None,
    }


def calls_over(feed: StreamedFeed, kind: StrategyKind = StrategyKind.MIRRORED) -> Calls:
    def replica_step(features: tf.Tensor, labels: tf.Tensor, _: BatchPart) -> ReplicaSums:
        weighted = tf.cast(features, tf.float32) * tf.reshape(tf.range(12.0), (4, 3))
        numbers = [tf.reduce_sum(weighted), tf.reduce_sum(tf.cast(labels, tf.float32))]
        return ReplicaSums(tf.stack(numbers))

    strategy = make_strategy(plan_of(REPLICAS).model_copy(update={"strategy": kind}))
    return Calls(strategy, feed, (24, 8), 2, replica_step)


def sums_of(batches: Indices) -> list[float]:
    weighted = PIXELS[batches].astype(np.float64) * np.arange(12.0).reshape(4, 3)
    return [float(weighted.sum()), float(LABELS[batches].sum())]


def calls_are_fed() -> dict[str, bool]:
    feed, rows = new_feed(0)
    calls = calls_over(feed)
    order = RANDOM.permutation(300).astype(np.int32)
    calls.expect(order, 32, order[:64])
    parts = [order[:96].reshape(3, 32), order[96:288].reshape(6, 32), order[np.newaxis, 288:]]
    # Each is read and launched before the one before it is waited for.
    launched = [calls.prepare(batches)(0.0) for batches in parts]
    is_right = [
        np.allclose(wait().sums, sums_of(batches), rtol=1e-5)
        for wait, batches in zip(launched, parts, strict=True)
    ]
    read = sorted(rows.read_so_far)
    is_read_once = all(number in read for number in range(300)) and len(read) <= 300 + 64
    calls.expect(order[:64], 32)
    calls(order[:64].reshape(2, 32))
    is_next_epoch_read_before = len(rows.read_so_far) == 300 + 64
    calls.close()
    return {
        "sums": all(is_right),
        "once": is_read_once,
        "next_epoch": is_next_epoch_read_before,
    }


def stays_on_its_device(first_device: int, kind: StrategyKind) -> bool:
    """Whether no pixels go from one device to another within a call."""
    feed, _ = new_feed(first_device)
    calls = calls_over(feed, kind)
    batches = np.arange(96, dtype=np.int32).reshape(3, 32)
    context.context().enable_graph_collection()
    calls(batches)
    graphs = context.context().export_run_metadata().partition_graphs
    context.context().disable_graph_collection()
    calls.close()
    sent = [
        node.attr["T"].type
        for graph in graphs
        for node in graph.node
        if node.op in ("_Send", "_HostSend")
    ]
    return bool(graphs) and tf.uint8.as_datatype_enum not in sent


def main() -> None:
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration()] * (REPLICAS + 1),
    )
    found = {
        "placed": is_placed_where_it_is_computed_with(),
        "bounds": is_read_for_the_bounds_that_hold(),
        # Placed elsewhere than where they are computed with, they do.
        **{
            kind.value: stays_on_its_device(0, kind) and not stays_on_its_device(1, kind)
            for kind in (StrategyKind.MIRRORED, StrategyKind.CENTRAL_STORAGE)
        },
        **calls_are_fed(),
        **steps_of_a_call(),
    }
    ended = []
    for each in threading.enumerate():
        if each.name.startswith("look-ahead"):
            each.join(PATIENCE_S)
            ended.append(not each.is_alive())
    found["threads"] = all(ended)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
