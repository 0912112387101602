"""A change to a profile, in words for people and as TOML for the terminal."""

import tomllib

import pytest

from gpupanel.domain.change_text import change_text, changes_text
from gpupanel.domain.change_toml import change_toml, changes_toml
from gpupanel.domain.problem import Change
from gpupanel.domain.toml_text import toml_value

KEY = "GPU-5f0c2a31-7f00-4b1e-8a64-000000000000"
NAMES = {KEY: "RTX 4090"}


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("training.optimizer", "adam", "Optimizer: Adam"),
        ("training.optimizer", "adagrad", "Optimizer: adagrad"),
        ("training.epochs", 1200, "Epochs: 1,200"),
        ("training.learning_rate", 0.001, "Learning rate: 0.001"),
        ("training.mixed_precision", True, "Mixed precision: on"),
        ("training.mixed_precision", False, "Mixed precision: off"),
        ("training.momentum", None, "Remove momentum"),
        ("training.jit_compile", None, "Remove XLA (jit_compile)"),
        ("training.clip_norm", None, "Clip gradients: off"),
        ("training.global_batch_size", 1, "Global batch size: 1 example"),
        ("training.global_batch_size", 64, "Global batch size: 64 examples"),
        ("training.checkpoint_every_epochs", 2, "Checkpoint: every 2 epochs"),
        ("training.checkpoint_every_epochs", 1, "Checkpoint: every epoch"),
        ("training.checkpoint_every_epochs", 0, "Checkpoint: never"),
        ("strategy.kind", "mirrored", "Strategy: A copy on each device"),
        ("strategy.shares", [3, 2], "Shares: 3 + 2"),
        ("strategy.shares", "balanced", "Shares: balanced"),
        ("strategy.placement", "auto", "Placement: auto"),
        ("strategy.placement.dense_1", 1, "Placement of dense_1: device 1"),
        ("devices.visible", [KEY, "cpu"], "Devices in use: RTX 4090, CPU"),
        ("devices.visible", ["GPU-0a1b2c3d-4e5f"], "Devices in use: GPU-0a1b2c3d…"),
        ("devices.visible", [], "Devices in use: every GPU, or the CPU where there is none"),
        ("model.filters", [32, 64], "Filters: 32, 64"),
        ("model.hidden", [], "Hidden layers: no hidden layer"),
        ("model", {"source": "mlp"}, "Model: MLP"),
        ("model.source", "cnn", "Model: CNN"),
        ("data.source", "hologram", "Data: hologram"),
        ("task", "evaluate", "Task: Evaluate"),
    ],
)
def test_that_a_change_has_the_words_of_its_setting(path, value, text):
    assert change_text(Change(path=tuple(path.split(".")), value=value), NAMES) == text


@pytest.mark.parametrize(
    ("inner", "value", "text"),
    [
        ((), {"policy": "growth"}, "Memory of RTX 4090: grow as needed"),
        ((), {"policy": "all"}, "Memory of RTX 4090: take all"),
        ((), {"policy": "limit", "limit_mib": 4096}, "Memory of RTX 4090: limit of 4,096 MiB"),
        (
            (),
            {"policy": "limit", "limit_mib": 4096, "growth": True},
            "Memory of RTX 4090: grow up to 4,096 MiB",
        ),
        (
            (),
            {"policy": "split", "split_mib": [2048, 1024]},
            "Memory of RTX 4090: split into 2,048 + 1,024 MiB",
        ),
        (
            (),
            {"policy": "split", "split_mib": [2048, 1024], "growth": True},
            "Memory of RTX 4090: split into 2,048 + 1,024 MiB, growing",
        ),
        ((), {"policy": "lease"}, 'Memory of RTX 4090: { policy = "lease" }'),
        ((), None, "Remove memory setting of RTX 4090"),
        (("policy",), "limit", "Memory of RTX 4090: limit"),
        (("policy",), "growth", "Memory of RTX 4090: grow as needed"),
        (("policy",), None, "Remove memory setting of RTX 4090"),
        (("limit_mib",), 4096, "Memory of RTX 4090, limit: 4,096 MiB"),
        (("limit_mib",), None, "Remove memory of RTX 4090, limit"),
        (("split_mib",), [2048, 2048], "Memory of RTX 4090, split: 2,048 + 2,048 MiB"),
        (("growth",), True, "Memory of RTX 4090, grow up to the limit: on"),
    ],
)
def test_that_a_change_of_memory_names_the_device(inner, value, text):
    assert change_text(Change(path=("memory", KEY, *inner), value=value), NAMES) == text


def test_that_a_device_without_a_name_is_named_by_the_start_of_its_uuid():
    change = Change(path=("memory", KEY), value={"policy": "growth"})
    assert change_text(change) == "Memory of GPU-5f0c2a31…: grow as needed"


def test_that_the_memory_of_the_gpus_without_a_table_of_their_own_is_named():
    change = Change(path=("memory", "default"), value={"policy": "all"})
    assert change_text(change) == "Memory of all other GPUs: take all"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change(path=("strategy", "quantum"), value=True), "strategy.quantum = true"),
        (Change(path=("quantum", "bits"), value=3), "quantum.bits = 3"),
        (Change(path=("memory", KEY, "rent"), value=3), f"memory.{KEY}.rent = 3"),
        (Change(path=("memory",), value={}), "memory = {}"),
        (Change(path=()), "without "),
        (
            Change(path=("strategy", "placement"), value={"dense": 0, "dense_1": 1}),
            "Placement: { dense = 0, dense_1 = 1 }",
        ),
        (Change(path=("strategy", "shares"), value=["much", 2]), "Shares: much + 2"),
    ],
)
def test_that_what_fits_no_setting_is_shown_as_toml(change, text):
    assert change_text(change) == text


def test_that_several_changes_are_shown_one_after_the_other():
    changes = (
        Change(path=("strategy", "kind"), value="mirrored"),
        Change(path=("strategy", "shares"), value=[48, 16]),
        Change(path=("training", "mixed_precision"), value=True),
        Change(path=("memory", "GPU-1")),
    )
    assert changes_text(changes) == (
        "Strategy: A copy on each device; Shares: 48 + 16; Mixed precision: on; "
        "Remove memory setting of GPU-1"
    )
    assert changes_toml(changes) == (
        'strategy.kind = "mirrored", strategy.shares = [48, 16], '
        "training.mixed_precision = true, without memory.GPU-1"
    )


def test_that_no_change_has_no_text():
    assert not changes_text(())
    assert not changes_toml(())


@pytest.mark.parametrize(
    "value",
    [True, 3, 1e-3, "größer", [3, 2], [], {"policy": "limit", "limit_mib": 4096}, {"a.b": 1}, {}],
)
def test_that_a_value_as_toml_is_read_back_as_it_was(value):
    text = change_toml(Change(path=("key",), value=value))
    assert text == f"key = {toml_value(value)}"
    assert "\n" not in text
    assert tomllib.loads(text) == {"key": value}
