"""GPUs that a run of another user holds: named before a run takes them, with the free ones."""

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import (
    ComputeMode,
    DeviceProcess,
    DeviceReading,
    DeviceState,
    TelemetrySample,
)
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import Preparation, mended, prepare
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL

ADA = GpuClaim(user="ada", since_s=1_000.0)
BOB = GpuClaim(user="bob", since_s=2_000.0)
TRAINER = DeviceProcess(pid=77, name="python", user="ada", memory_used_mib=900)
SCREEN = DeviceProcess(pid=12, name="Xorg", memory_used_mib=80, only_draws=True)
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
CLAIMED = DeviceReading(key=RTX_4090.key, claims=(ADA,))
FREE = DeviceReading(key=RTX_3060.key, processes=(SCREEN,))


def prepared(
    *readings: DeviceReading,
    named: tuple[str, ...] = (),
    strategy: StrategySettings = MIRRORED,
    inventory: DeviceInventory = TWO_UNEQUAL,
) -> tuple[Profile, Preparation, Known]:
    profile = Profile(devices=DeviceSettings(visible=named), strategy=strategy)
    known = Known(TelemetrySample(time_s=3_000.0, readings=readings))
    return profile, prepare(profile, inventory, known), known


def claims_among(preparation: Preparation) -> list[Problem]:
    return [each for each in preparation.problems if each.code == "gpu_claimed"]


def test_that_a_gpu_that_somebody_trains_on_is_named_with_who_and_since_when() -> None:
    _, preparation, _ = prepared(CLAIMED, FREE)
    (problem,) = claims_among(preparation)
    assert problem.severity is Severity.WARNING
    assert problem.field == "devices.visible"
    assert problem.message == f"In use by another user: RTX 4090 ({ADA.words(3_000.0)})."
    assert preparation.is_startable


def test_that_its_fix_takes_the_free_ones_of_those_that_are_meant() -> None:
    profile, preparation, known = prepared(CLAIMED, FREE)
    (problem,) = claims_among(preparation)
    assert problem.fix is not None
    assert problem.fix.label == "Use RTX 3060"
    fixed = apply_fix(profile, problem.fix)
    assert fixed.devices.visible == (RTX_3060.key,)
    assert claims_among(prepare(fixed, TWO_UNEQUAL, known)) == []


def test_that_shares_given_for_both_do_not_stay_with_one() -> None:
    strategy = MIRRORED.model_copy(update={"shares": (48, 16)})
    profile, _, known = prepared(CLAIMED, FREE, strategy=strategy)
    fixed = mended(profile, TWO_UNEQUAL, known)
    assert fixed.devices.visible == (RTX_3060.key,)
    assert prepare(fixed, TWO_UNEQUAL, known).is_startable


def test_that_a_free_gpu_takes_the_place_of_a_named_one() -> None:
    profile, preparation, _ = prepared(CLAIMED, FREE, named=(RTX_4090.key,))
    (problem,) = claims_among(preparation)
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).devices.visible == (RTX_3060.key,)


def test_that_no_gpu_that_is_taken_lost_or_prohibited_is_offered() -> None:
    key = RTX_3060.key
    for other in (
        DeviceReading(key=key, claims=(BOB,)),
        DeviceReading(key=key, processes=(TRAINER,)),
        DeviceReading(key=key, state=DeviceState.LOST),
        DeviceReading(key=key, compute_mode=ComputeMode.PROHIBITED),
    ):
        _, preparation, _ = prepared(CLAIMED, other, named=(RTX_4090.key,))
        (problem,) = claims_among(preparation)
        assert problem.fix is None


def test_that_all_claimed_gpus_stand_in_one_sentence() -> None:
    also = DeviceReading(key=RTX_3060.key, claims=(BOB,))
    _, preparation, _ = prepared(CLAIMED, also)
    (problem,) = claims_among(preparation)
    assert "RTX 4090 (ada, since" in problem.message
    assert "; RTX 3060 (bob, since" in problem.message
    assert problem.fix is None


def test_that_a_claim_to_a_gpu_that_is_not_chosen_is_no_problem() -> None:
    _, preparation, _ = prepared(CLAIMED, FREE, named=(RTX_3060.key,))
    assert claims_among(preparation) == []


def test_that_nothing_is_said_where_nothing_is_known() -> None:
    assert claims_among(prepare(Profile(), TWO_UNEQUAL)) == []
    assert claims_among(prepared(FREE)[1]) == []


def test_that_a_gpu_that_one_process_holds_exclusively_is_said_once_with_who() -> None:
    held = CLAIMED.model_copy(
        update={"compute_mode": ComputeMode.EXCLUSIVE_PROCESS, "processes": (TRAINER,)}
    )
    _, preparation, _ = prepared(held, FREE)
    assert claims_among(preparation) == []
    (problem,) = (each for each in preparation.problems if each.code == "gpu_held_exclusively")
    assert f"python (77) has it now ({ADA.words(3_000.0)})." in problem.message


def test_that_devices_of_several_machines_are_named_without_a_fix() -> None:
    """Which GPUs of which nodes could take its place is the cluster's to say."""
    nodes = DeviceInventory(
        devices=(
            RTX_4090.model_copy(update={"node": "alpha"}),
            RTX_3060.model_copy(update={"node": "beta"}),
            CPU.model_copy(update={"node": "alpha", "key": "cpu@alpha"}),
        )
    )
    strategy = StrategySettings(kind=StrategyKind.MULTI_WORKER)
    _, preparation, _ = prepared(CLAIMED, FREE, strategy=strategy, inventory=nodes)
    (problem,) = claims_among(preparation)
    assert problem.fix is None
