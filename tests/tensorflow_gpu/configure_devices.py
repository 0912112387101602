"""Configures TensorFlow's devices on the cards, and prints what comes of it as one JSON object.

Arguments: ``plan`` as the trainer does it, ``server`` as that of a worker of parameter servers, or
``calls`` by Python code; and the file that standard error goes to. On standard input is the plan
with its process's place, or the code.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import tensorflow as tf

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.device_answers import check_as_planned
from gpupanel.trainer.device_configuration import configure_devices
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.strategies.parameter_server import server_answers, server_configuration

Reported = dict[str, Any]


def as_planned(log: DeviceLog, reported: Reported) -> None:
    asked = json.load(sys.stdin)
    plan = LaunchPlan.model_validate(asked["plan"])
    answers = configure_devices(plan, asked["place"], None, log)
    reported["answers"] = [answer.model_dump() for answer in answers]
    check_as_planned(answers, plan)
    use_every_gpu()
    reported["said"] = growth_said()


def as_server(log: DeviceLog, reported: Reported) -> None:
    asked = json.load(sys.stdin)
    plan = LaunchPlan.model_validate(asked["plan"])
    use_in_session(server_configuration(plan.gang[asked["place"]].devices))
    answers = server_answers(plan, asked["place"], log)
    reported["answers"] = [answer.model_dump() for answer in answers]


def as_called(_: DeviceLog, reported: Reported) -> None:
    names: dict[str, Any] = {}
    try:
        exec(sys.stdin.read(), names)
        if "server_configuration" in names:
            use_in_session(names["server_configuration"])
        else:
            use_every_gpu()
    except (RuntimeError, ValueError) as error:
        reported["refused"] = f"{type(error).__name__}: {error}"
    reported["said"] = growth_said()


def growth_said() -> list[bool]:
    """What each GPU says that was asked of it."""
    gpus = tf.config.list_physical_devices("GPU")
    return [bool(tf.config.experimental.get_memory_growth(gpu)) for gpu in gpus]


def use_every_gpu() -> None:
    """An allocator takes its first memory when it is first asked for some."""
    for gpu in tf.config.list_logical_devices("GPU"):
        with tf.device(gpu.name):
            tf.zeros((4,))


def use_in_session(configuration: tf.compat.v1.ConfigProto) -> None:
    """As a server, which makes its devices by the same code, but without a port."""
    with tf.Graph().as_default(), tf.compat.v1.Session(config=configuration) as session:
        for device in session.list_devices():
            if device.device_type == "GPU":
                with tf.device(device.name):
                    session.run(tf.constant([1.0, 2.0]).op)


def held_mib() -> dict[str, int]:
    """What this process holds of each card, by UUID, its context included."""
    return {
        file.name.split(".")[0]: int.from_bytes(file.read_bytes(), "little") // 2**20
        for file in Path(os.environ["GPUPANEL_TEST_CUDA_FOLDER"]).iterdir()
        if file.name.split(".")[1] == str(os.getpid())
    }


def main() -> None:
    way, path = sys.argv[1:]
    log = DeviceLog(Path(path))
    reported: Reported = {}
    try:
        {"plan": as_planned, "server": as_server, "calls": as_called}[way](log, reported)
    except ProblemError as error:
        reported["problem"] = error.problems[0].model_dump(mode="json")
    reported["held"] = held_mib()
    made = log.created().items()
    reported["made"] = [[name, each.memory_mib, each.pci_bus_id] for name, each in made]
    print(json.dumps(reported))


main()
