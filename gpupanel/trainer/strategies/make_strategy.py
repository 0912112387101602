"""TensorFlow's strategies, made from a plan; that over several workers before anything else."""

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.strategies.parameter_server import join_as_coordinator
from gpupanel.trainer.strategies.serving import serving

_HOST = "/device:CPU:0"
"""Where the weights of a central storage are."""


def make_strategy(plan: LaunchPlan) -> tf.distribute.Strategy:
    """The strategy of the plan, on devices that were seen to be there.

    Raises:
        PortTaken: This process coordinates others, and cannot have its port.
        ProblemError: This trainer has no such strategy, or NCCL was asked for and cannot work.
    """
    names = [replica.logical_device for replica in plan.replicas]
    if plan.strategy is StrategyKind.ONE_DEVICE:
        return tf.distribute.OneDeviceStrategy(names[0])
    if plan.strategy is StrategyKind.MIRRORED:
        return tf.distribute.MirroredStrategy(names, cross_device_ops=_cross_device_ops(plan))
    if plan.strategy is StrategyKind.CENTRAL_STORAGE:
        return tf.distribute.experimental.CentralStorageStrategy(names, _HOST)
    if plan.strategy is StrategyKind.MODEL_PARALLEL and len(plan.replicas) > 1:
        # The layers of a replica are on several devices: NCCL could not take them together.
        one = tf.distribute.ReductionToOneDevice()
        return tf.distribute.MirroredStrategy(names, cross_device_ops=one)
    if plan.strategy is StrategyKind.MODEL_PARALLEL:
        # TensorFlow's default: any other would put every variable on a device of its own choice.
        return tf.distribute.get_strategy()
    if plan.strategy is StrategyKind.PARAMETER_SERVER:
        return join_as_coordinator()
    raise ProblemError(
        Problem(
            code="strategy_not_available",
            field="strategy.kind",
            message=f'The trainer has no strategy "{plan.strategy}".',
            hint="Choose one_device or mirrored.",
        )
    )


def _hierarchical_copy(replicas: int) -> tf.distribute.CrossDeviceOps:
    """TensorFlow's makes two groups of ``replicas // 2``: of an odd number it loses the last."""
    if replicas % 2 == 0:
        return tf.distribute.HierarchicalCopyAllReduce()
    raise ProblemError(
        Problem(
            code="hierarchical_copy_of_odd_replicas",
            field="strategy.all_reduce",
            message="TensorFlow's hierarchical copy would leave out the gradients of the last of "
            f"{replicas} replicas: it sums over an even number only.",
            hint='Set strategy.all_reduce to "auto" or "reduction_to_one_device".',
        )
    )


def _cross_device_ops(plan: LaunchPlan) -> tf.distribute.CrossDeviceOps | None:
    owners = [replica.device_key for replica in plan.replicas]
    kinds = {device.key: device.kind for device in plan.devices}
    on_gpus = all(kinds[owner] is DeviceKind.GPU for owner in owners)
    # NCCL wants a GPU of its own for each replica.
    nccl_works = on_gpus and len(set(owners)) == len(owners)
    match plan.all_reduce:
        case AllReduce.AUTO:
            # Within one memory a plain sum is faster than TensorFlow's default, a ring.
            return None if nccl_works else tf.distribute.ReductionToOneDevice()
        case AllReduce.HIERARCHICAL_COPY:
            return _hierarchical_copy(len(owners))
        case AllReduce.REDUCTION_TO_ONE_DEVICE:
            return tf.distribute.ReductionToOneDevice()
        case AllReduce.NCCL if nccl_works:
            return tf.distribute.NcclAllReduce()
        case AllReduce.NCCL:
            why = "two replicas share a GPU" if on_gpus else "a replica runs on the CPU"
            raise ProblemError(
                Problem(
                    code="nccl_cannot_be_used",
                    field="strategy.all_reduce",
                    message=f"NCCL sums gradients between whole GPUs only, and here {why}.",
                    hint='Set strategy.all_reduce to "auto" or "hierarchical_copy".',
                )
            )


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
    """How gradients are summed over processes: a ring over gRPC, or NCCL if asked for by name.

    TensorFlow's own ``AUTO`` means the ring, too: it sets ``collective_nccl`` for ``NCCL`` alone
    (``_update_config_proto`` in ``collective_all_reduce_strategy.py``).
    """
    kinds = tf.distribute.experimental.CommunicationImplementation
    on_gpus = all(device.kind is DeviceKind.GPU for device in run.plan.devices)
    by_nccl = on_gpus and run.plan.all_reduce is AllReduce.NCCL
    return kinds.NCCL if by_nccl else kinds.RING
