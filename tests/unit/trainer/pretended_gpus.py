"""Puts GPUs that this machine has not into TensorFlow, and configures them.

``python pretended_gpus.py LOG < CASES``: each case gets a TensorFlow context of its own, whose
Python carries out every call as on real GPUs and decides the ``GPUOptions`` that its C++ would
create the devices from. That creation is stood in for here as ``gpu_device.cc`` does it, the lines
in the log included. What came of each case is reported as JSON on standard output.

``python pretended_gpus.py --run RUN_DIR BUS...``: the training process of a run, which finds
GPUs at these places.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import tensorflow as tf
from tensorflow.python.eager import context

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.device_answers import check_as_planned
from gpupanel.trainer.device_configuration import configure_devices
from gpupanel.trainer.device_log import DeviceLog
from gpupanel.trainer.process import train_run
from gpupanel.trainer.strategies.parameter_server import server_configuration

Case = dict[str, Any]

FREE_MIB = 20_000
"""What TensorFlow finds free of each GPU, less what it leaves to the system."""


def say(words: str) -> None:
    """Write a line to the log as TensorFlow's C++ does."""
    os.write(2, f"I0000 00:00:1795252530.166748   30453 gpu_device.cc:2040] {words}\n".encode())


def show_gpus(count: int, left_out: str | None) -> None:
    """Let TensorFlow find so many GPUs, and one more that it leaves out with these words."""
    names = ["/physical_device:CPU:0", *(f"/physical_device:GPU:{each}" for each in range(count))]

    def listed() -> list[bytes]:
        if left_out is not None:
            say(left_out)
        return [name.encode() for name in names]

    context.pywrap_tfe.TF_ListPhysicalDevices = listed
    context._reset_context()


def logical_gpus() -> Iterator[tuple[str, int, int]]:
    """Name, physical GPU and MiB of each logical one, as BaseGPUDeviceFactory::CreateDevices."""
    config = context.context().config  # this raises where TensorFlow refuses
    options = config.gpu_options
    visible = [int(index) for index in options.visible_device_list.split(",") if index]
    virtual = options.experimental.virtual_devices
    index = 0
    for place, physical in enumerate(visible):
        limits = virtual[place].memory_limit_mb if virtual else []
        for limit in limits or [FREE_MIB]:
            yield f"/device:GPU:{index}", physical, int(limit)
            index += 1
    assert config.device_count["GPU"] == index or any(not each.memory_limit_mb for each in virtual)


def create_devices(case: Case) -> Callable[[str], list[Any]]:
    """What stands in for ``tf.config.list_logical_devices``, which makes them when first asked."""
    has_made = False

    def listed(kind: str) -> list[Any]:
        nonlocal has_made
        if kind == "CPU":
            count = context.context().config.device_count["CPU"]
            return [context.LogicalDevice(f"/device:CPU:{each}", kind) for each in range(count)]
        made = list(logical_gpus())[: case.get("made")]
        for name, physical, memory_mib in made:
            if not has_made and not case.get("in_silence"):
                say(
                    f"Created device /job:localhost/replica:0/task:0{name} with {memory_mib} MB "
                    f"memory:  -> device: {physical}, name: NVIDIA H{physical}, pci bus id: "
                    f"{case['buses'][physical]}, compute capability: 9.0"
                )
        has_made = True
        return [context.LogicalDevice(name, kind) for name, _, _ in made]

    return listed


def decided() -> dict[str, Any]:
    """The options that TensorFlow's C++ would get."""
    return described(context.context().config.gpu_options)


def described(options: Any) -> dict[str, Any]:
    return {
        "growth": options.allow_growth,
        "visible": options.visible_device_list,
        "limits": [list(each.memory_limit_mb) for each in options.experimental.virtual_devices],
    }


def as_planned(case: Case, log: Path) -> dict[str, Any]:
    """What comes of a plan, in one of its processes."""
    plan = LaunchPlan.model_validate(case["plan"])
    tf.config.list_logical_devices = create_devices(case)
    reported: dict[str, Any] = {}
    try:
        answers = configure_devices(plan, case["place"], None, DeviceLog(log))
        reported = {**decided(), "answers": [answer.model_dump() for answer in answers]}
        check_as_planned(answers, plan)
    except ProblemError as error:
        reported["problem"] = error.problems[0].model_dump(mode="json")
    return reported


def as_server(case: Case) -> dict[str, Any]:
    """What comes of a plan in a process that only serves."""
    plan = LaunchPlan.model_validate(case["plan"])
    return described(server_configuration(plan.gang[case["place"]].devices).gpu_options)


def as_written(case: Case) -> dict[str, Any]:
    """What comes of the calls that a person would write: for each GPU what it should have."""
    gpus = tf.config.list_physical_devices("GPU")
    try:
        for gpu, wanted in zip(gpus, case["wanted"], strict=True):
            calls = [lambda gpu=gpu: tf.config.experimental.set_memory_growth(gpu, True)]
            calls = calls if wanted["growth"] else []
            if wanted["limits"]:
                limits = [
                    tf.config.LogicalDeviceConfiguration(memory_limit=limit)
                    for limit in wanted["limits"]
                ]
                calls.append(
                    lambda gpu=gpu, limits=limits: tf.config.set_logical_device_configuration(
                        gpu, limits
                    )
                )
            for call in reversed(calls) if wanted.get("limits_first") else calls:
                call()
        said = [bool(tf.config.experimental.get_memory_growth(gpu)) for gpu in gpus]
        return {**decided(), "said": said}
    except (RuntimeError, ValueError) as error:
        return {"refused": f"{type(error).__name__}: {error}"}


def as_shown(case: Case) -> dict[str, Any]:
    """What comes of the calls that the window shows, up to where the strategy is made."""
    configuring, _, _ = case["calls"].partition("strategy = ")
    with mock.patch.dict(os.environ):
        exec(configuring, {})
    return decided()


def answer(case: Case) -> dict[str, Any]:
    """What came of one case."""
    show_gpus(case["gpus"], case.get("left_out"))
    if "wanted" in case:
        return as_written(case)
    if "calls" in case:
        return as_shown(case)
    if case["serves"]:
        return as_server(case)
    return as_planned(case, Path(case.get("log", sys.argv[1])))


def run(root: str, *buses: str) -> int:
    """The training process of a run; its exit status."""
    show_gpus(len(buses), None)
    tf.config.list_logical_devices = create_devices({"buses": buses})
    return train_run(Path(root))


def main() -> int:
    """Answer every case of standard input, or train."""
    if sys.argv[1] == "--run":
        return run(*sys.argv[2:])
    gc.freeze()  # or each new context looks through all that TensorFlow's import left
    print(json.dumps([answer(case) for case in json.load(sys.stdin)]))
    return 0


sys.exit(main())
