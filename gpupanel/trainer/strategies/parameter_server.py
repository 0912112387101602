"""Asynchronous workers, and processes that keep the weights for them."""

import tensorflow as tf

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.plan import LaunchPlan, PlannedDevice
from gpupanel.trainer.device_answers import device_answers, is_bounded
from gpupanel.trainer.device_configuration import (
    named_devices,
    report_devices,
    seen_devices,
)
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.device_refusals import refusals_told
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.leader import stay_for_leader
from gpupanel.trainer.started_run import StartedRun
from gpupanel.trainer.strategies.serving import serving
from gpupanel.trainer.tracing.timed_trace import TimedTrace


def join_as_coordinator() -> tf.distribute.ParameterServerStrategy:
    """The strategy over the workers and parameter servers; waits until each of them is there.

    Where they are stands in ``TF_CONFIG``. Weights are whole, each on one parameter server:
    Keras cannot use a variable that is divided among several.

    Raises:
        PortTaken: See :func:`~gpupanel.trainer.strategies.serving.serving`.
        ProblemError: See :func:`~gpupanel.trainer.strategies.serving.serving`.
    """
    with serving():
        return tf.distribute.ParameterServerStrategy(_cluster())


def serve(run: StartedRun, events: EventWriter) -> None:
    """Report the devices, then do what the coordinator says, until this process is ended.

    It ends by itself when the supervisor is gone, but not before the coordinator: what that
    saves then is here.

    Raises:
        PortTaken: See :func:`~gpupanel.trainer.strategies.serving.serving`.
        ProblemError: See :func:`~gpupanel.trainer.strategies.serving.serving`,
            :func:`~gpupanel.trainer.device_configuration.seen_devices`,
            :func:`~gpupanel.trainer.device_refusals.refusals_told` and
            :func:`~gpupanel.trainer.device_configuration.report_devices`.
    """
    cluster = _cluster()
    log = DeviceLog(run.layout.process_log(run.place))
    devices = named_devices(run.plan, run.place)
    # A server without its GPU would carry out the same steps on the CPU, without a word.
    seen_devices(devices, log)
    with refusals_told(devices, joins=True), serving():
        server = tf.distribute.Server(
            cluster.cluster_spec(),
            job_name=cluster.task_type,
            task_index=cluster.task_id,
            protocol="grpc",
            config=server_configuration(devices),
        )
    report_devices(run, server_answers(run.plan, run.place, log), events)
    stay_for_leader(run, TimedTrace(run).look)
    del server  # kept until here


def server_configuration(devices: tuple[PlannedDevice, ...]) -> tf.compat.v1.ConfigProto:
    """The planned device configuration, in the form that a server takes.

    A server configures its devices by itself: what ``tf.config`` says is for programs that
    calculate in their own process.
    """
    configuration = tf.compat.v1.ConfigProto()
    gpus = [device for device in devices if device.kind is DeviceKind.GPU]
    if not gpus:
        configuration.device_count["GPU"] = 0
        return configuration
    options = configuration.gpu_options
    options.visible_device_list = ",".join(str(device.index) for device in gpus)
    options.allow_growth = any(device.memory_growth for device in gpus)
    if any(device.logical_limits_mib for device in gpus):
        for device in gpus:
            # One replica for each worker: it takes the first of several logical devices.
            limits = device.logical_limits_mib[:1]
            virtual = options.experimental.virtual_devices.add()
            virtual.memory_limit_mb.extend(limit for limit in limits if limit is not None)
    return configuration


def server_answers(plan: LaunchPlan, place: int, log: DeviceLog) -> tuple[LogicalDeviceAnswer, ...]:
    """The devices of a process's server, which lists them for nobody but its coordinator.

    It makes one logical device of each that it was given; what it says of them is in its log.

    Args:
        plan: With the process in its gang.
        place: Of the process in the gang.
        log: Of the process.
    """
    devices = plan.gang[place].devices
    single = [
        device.model_copy(update={"logical_limits_mib": device.logical_limits_mib[:1]})
        for device in devices
    ]
    gpus = sum(device.kind is DeviceKind.GPU for device in devices)
    names = {
        DeviceKind.GPU: tuple(f"/device:GPU:{index}" for index in range(gpus)),
        DeviceKind.CPU: ("/device:CPU:0",),
    }
    return device_answers(single, names, log.created(), is_bounded=is_bounded(plan, place))


def _cluster() -> tf.distribute.cluster_resolver.TFConfigClusterResolver:
    return tf.distribute.cluster_resolver.TFConfigClusterResolver(rpc_layer="grpc")
