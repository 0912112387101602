"""What is asked of cards before a run: whether they work, what fits, what there is."""

from pathlib import Path
from typing import Any

import pytest

from gpupanel.devices.probes import tensorflow_probe
from gpupanel.domain.self_test import CaseResult, SelfTestKind
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from tests.forked.answers import forked_answers
from tests.forked.terminal import answered
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.tensorflow_gpu.fixtures import TWO_CARDS, CardsOfThisProcess
from tests.tensorflow_gpu.profiles import BOTH, LARGE, SMALL, memory, mirrored
from tests.tensorflow_gpu.test_strategies_on_cards import TRAINING

pytestmark = pytest.mark.tensorflow

SUMS, STEP = SelfTestKind.ALL_REDUCE, SelfTestKind.STEP
MEMORY, HOST = SelfTestKind.MEMORY, SelfTestKind.TRANSFER
PAIR = SelfTestKind.PAIR_TRANSFER


def self_tested(cards: CardsOfThisProcess, folder: Path, limit_mib: int) -> dict[str, Any]:
    """What the command says of both cards, of which so much is tested."""
    profile = folder / "profile.toml"
    limits = (memory(uuid, policy="limit", limit_mib=limit_mib) for uuid in (LARGE, SMALL))
    profile.write_text(BOTH + mirrored([48, 16]) + "".join(limits) + TRAINING)
    with forked_answers(server=cards.server):
        return answered(cards.gpupanel("selftest", profile, "--again", "--json"))


def of_kind(found: dict[str, Any], kind: SelfTestKind) -> list[dict[str, Any]]:
    return [each for each in found["outcomes"] if each["case"]["kind"] == kind]


@pytest.mark.slow
def test_that_two_cards_pass_the_self_test(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    found = self_tested(cards_in_process, tmp_path, limit_mib=1024)
    assert found["ok"], found
    assert found["problems"] == []
    assert {each["result"] for each in found["outcomes"]} == {CaseResult.PASSED}
    counts = {kind: len(of_kind(found, kind)) for kind in SelfTestKind}
    assert counts == {SUMS: 4, STEP: 2, MEMORY: 2, HOST: 2, PAIR: 1}
    for each in of_kind(found, MEMORY):
        # On a busy machine there is time for less.
        assert 32 <= each["figure"] <= each["case"]["amount_mib"] == 768


@pytest.mark.slow  # tests/unit/trainer/test_self_test.py has a device that copies wrongly
def test_that_a_card_to_which_others_copy_wrongly_is_found(
    cards_in_process: CardsOfThisProcess, tmp_path: Path
) -> None:
    """As where an input-output unit stands between two cards that copy to each other."""
    cards_in_process.tell(TWO_CARDS.with_gpu(1, garbles=True))
    found = self_tested(cards_in_process, tmp_path, limit_mib=512)
    assert not found["ok"]
    wrong = [each["case"]["kind"] for each in found["outcomes"] if each["result"] == "wrong"]
    assert wrong == [SUMS] * 4 + [PAIR]
    (pair,) = of_kind(found, PAIR)
    assert "from GPU:0 to GPU:1" in pair["detail"]
    others = [each for each in found["outcomes"] if each["case"]["kind"] not in (SUMS, PAIR)]
    assert {each["result"] for each in others} == {CaseResult.PASSED}
    # Also memory, in the least room in which a card is tested.
    assert [each["case"]["amount_mib"] for each in of_kind(found, MEMORY)] == [272, 272]
    problem = found["problems"][0]
    assert problem["code"] == "self_test_all_reduce"
    assert f"over {RTX_4090.name} and {RTX_3060.name}" in problem["message"]


@pytest.mark.slow
def test_that_what_the_search_finds_runs_and_one_step_more_does_not(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, runs_dir: Path
) -> None:
    """A card that is asked for more than it has lets TensorFlow wait for ten seconds."""
    profile = tmp_path / "profile.toml"
    one = f'[devices]\nvisible = ["{SMALL}"]\n'
    limit = memory(SMALL, policy="limit", limit_mib=256, growth=True)
    text = one + limit + TRAINING.replace("[32]", "[16384]").replace("epochs = 2", "epochs = 1")
    text += "out_of_memory_retries = 0\n"
    profile.write_text(text)
    server = cards_in_process.server
    with forked_answers(server=server):
        found = answered(cards_in_process.gpupanel("fit-batch", profile, "--json"))
    (device,) = found["devices"]
    fits = found["largest_batch"]
    over = min(each["examples"] for each in device["trials"] if not each["fits"])
    assert 512 < fits < over <= fits * 1.1
    for batch, outcome in ((fits, "completed"), (over, "failed")):
        profile.write_text(text.replace("batch_size = 64", f"batch_size = {batch}"))
        ended = answered(cards_in_process.gpupanel("run", profile, "--json"))
        assert ended["outcome"] == outcome
    assert ended["problem"]["code"] == "out_of_memory"
    assert RTX_3060.name in ended["problem"]["message"]


@pytest.mark.long
def test_that_the_doctor_finds_all_libraries_and_says_what_tensorflow_sees(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    with forked_answers(tensorflow_probe, cards_in_process.server):
        found = answered(cards_in_process.gpupanel("doctor", "--json"))
    assert found["ok"]
    seen = found["tensorflow"]
    missing = [each["soname"] for each in seen["libraries"] if each["error"]]
    assert missing == ["libcupti.so.12"]
    assert [each["code"] for each in found["problems"]] == ["optional_cuda_libraries_missing"]
    assert seen["gpus"] == [
        {"name": RTX_4090.name, "compute_capability": [8, 9]},
        {"name": RTX_3060.name, "compute_capability": [8, 6]},
    ]
    assert [each["uuid"] for each in seen["cuda"]["devices"]] == [LARGE, SMALL]
    assert [(each["key"], each["is_seen"], each["kernels"]) for each in found["sights"]] == [
        (LARGE, True, "machine_code"),
        (SMALL, True, "machine_code"),
    ]
