"""On a machine with an NVIDIA GPU: TensorFlow answers what was planned. Skipped elsewhere."""

import shutil
from pathlib import Path

import pytest

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.events import DevicesReady
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.launcher import create_run
from tests.unit.trainer.conftest import StartTrainer, Trainer

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.tensorflow,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="needs an NVIDIA GPU"),
]

_LIMIT_MIB = 1024


@pytest.fixture(scope="module")
def inventory() -> DeviceInventory:
    with DeviceSampler() as sampler:
        return sampler.inventory()


def new_run(gpu: PhysicalDevice, inventory: DeviceInventory, folder: Path) -> RunLayout:
    profile = Profile(
        devices=DeviceSettings(visible=(gpu.key,)),
        memory={gpu.key: LimitedMemory(limit_mib=_LIMIT_MIB)},
        training=TrainingSettings(epochs=1),
    )
    plan = prepare(profile, inventory).plan
    assert plan is not None
    return create_run(profile, plan, folder)


def answered(trainer: Trainer) -> DevicesReady:
    return next(event for event in trainer.events() if isinstance(event, DevicesReady))


def test_that_tensorflow_takes_the_planned_gpu_and_its_limit(
    inventory: DeviceInventory, tmp_path: Path, start_new_trainer: StartTrainer
) -> None:
    gpu = inventory.gpus[-1]  # where the order were another one, it would be another GPU
    trainer = start_new_trainer(new_run(gpu, inventory, tmp_path))

    assert trainer.ended().outcome is Outcome.COMPLETED, trainer.log()
    first = answered(trainer).logical_devices[0]
    assert (first.name, first.device_key) == ("/device:GPU:0", gpu.key)
    assert (first.memory_limit_mib, first.memory_taken_mib) == (_LIMIT_MIB, _LIMIT_MIB)
    assert first.is_as_planned is True


def test_that_a_trainer_that_gets_another_gpu_does_not_train(
    inventory: DeviceInventory, tmp_path: Path, start_new_trainer: StartTrainer
) -> None:
    if len(inventory.gpus) < 2:
        pytest.skip("needs two GPUs")
    first, second = inventory.gpus[:2]
    layout = new_run(first, inventory, tmp_path)
    trainer = start_new_trainer(layout, CUDA_VISIBLE_DEVICES=second.key)

    problem = trainer.ended().problem
    assert problem is not None
    assert problem.code == "device_is_another"
    assert second.name in problem.message or "another GPU" in problem.message
    assert answered(trainer).logical_devices[0].is_as_planned is False
