"""Several workers, each a process with replicas of its own, in step with each other."""

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.strategy import AllReduce
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.strategies.serving import serving


def join_workers(run: StartedRun) -> tf.distribute.MultiWorkerMirroredStrategy:
    """The strategy over all workers of the run; waits until each of them is there.

    Where and who they are stands in ``TF_CONFIG``. Nothing of TensorFlow may have been made
    before.

    Raises:
        PortTaken: See :func:`~gpupanel.trainer.strategies.serving.serving`.
        ProblemError: See :func:`~gpupanel.trainer.strategies.serving.serving`.
    """
    options = tf.distribute.experimental.CommunicationOptions(implementation=_implementation(run))
    with serving():
        return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def _implementation(run: StartedRun) -> tf.distribute.experimental.CommunicationImplementation:
    """How gradients are summed over processes; a ring over gRPC is what the CPU can do."""
    kinds = tf.distribute.experimental.CommunicationImplementation
    if any(device.kind is not DeviceKind.GPU for device in run.plan.devices):
        return kinds.RING
    by_choice = {AllReduce.AUTO: kinds.AUTO, AllReduce.NCCL: kinds.NCCL}
    return by_choice.get(run.plan.all_reduce, kinds.RING)
