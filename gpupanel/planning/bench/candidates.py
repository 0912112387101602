"""From a profile to the candidates for the fastest way to train it: each device, all, variants."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gpupanel.domain.bench import MOST_CANDIDATES, BenchCandidate, BenchDivision, LeftOut
from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.device import CPU_KEY, PhysicalDevice
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import SHARING_KINDS, StrategyKind, StrategySettings
from gpupanel.planning.prepare import Preparation

Prepare = Callable[[Profile], Preparation]
"""What would happen with a profile on the machine as it is."""

_SHARED: Final = (BenchDivision.EQUAL, BenchDivision.BALANCED)
_EPOCHS: Final = 100_000
"""Practically endless: a candidate's run is stopped once its steps were measured."""
_NO_DEVICE: Final = Problem(
    code="bench_without_device",
    field="devices.visible",
    message="This machine has none of the devices that the profile names.",
    hint="Choose devices that are here.",
)
_NO_PLAN: Final = Problem(code="bench_not_planned", message="It cannot be planned on this machine.")
_TOO_MANY: Final = Problem(
    code="bench_too_many", message=f"No more than {MOST_CANDIDATES} candidates are compared."
)


@dataclass(frozen=True, slots=True)
class PlannedCandidate:
    """A candidate, the profile of its runs, and their plan."""

    candidate: BenchCandidate
    name: str
    profile: Profile
    plan: LaunchPlan


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates that can be tried, in order, and those that cannot."""

    tried: tuple[PlannedCandidate, ...] = ()
    left_out: tuple[LeftOut, ...] = field(default=())


def divisions(profile: Profile, devices: Sequence[PhysicalDevice], prepare: Prepare) -> Candidates:
    """Each device alone, all with equal and with balanced shares, and as the profile divides.

    What would be the same is tried once.

    Args:
        profile: What is to be trained.
        devices: Those that it means and this machine has.
        prepare: Says which candidates can start.
    """
    if not devices:
        return Candidates(left_out=(LeftOut(name=profile.name, problem=_NO_DEVICE),))
    wanted = [_alone(profile, device) for device in devices]
    wanted += [
        _of_all(profile, devices, each) for each in (BenchDivision.EQUAL, BenchDivision.BALANCED)
    ]
    wanted.append(_as_chosen(profile, devices))
    return _planned(profile, wanted, _names(devices), prepare)


def variants(
    profile: Profile,
    fastest: BenchCandidate,
    devices: Sequence[PhysicalDevice],
    prepare: Prepare,
) -> Candidates:
    """The fastest division with XLA and mixed precision the other way than the profile has them.

    Args:
        profile: What is to be trained.
        fastest: The division.
        devices: As for :func:`divisions`.
        prepare: As for :func:`divisions`.
    """
    training = profile.training
    wanted = []
    for toggles_xla, toggles_precision in ((True, False), (False, True), (True, True)):
        xla = training.jit_compile != toggles_xla
        precision = training.mixed_precision != toggles_precision
        words = [_words(xla, "XLA")] if toggles_xla else []
        words += [_words(precision, "mixed precision")] if toggles_precision else []
        variant = ", ".join(words)
        if len(words) == 2 and xla == precision:
            variant = _words(xla, "XLA and mixed precision")
        update = {"jit_compile": xla, "mixed_precision": precision, "variant": variant}
        wanted.append(fastest.model_copy(update=update))
    return _planned(profile, wanted, _names(devices), prepare)


def measured_profile(profile: Profile) -> Profile:
    """The profile without all that is beside the steps: validation, checkpoints, TensorBoard.

    Two profiles of which the same remains are equally fast, but for devices and strategy.
    """
    data = profile.data
    sets = {key: "" for key in ("validation_path", "test_path") if key in data.chosen_paths}
    training = profile.training.model_copy(
        update={
            "epochs": _EPOCHS,
            "checkpoint_every_epochs": 0,
            "checkpoint_every_minutes": None,
            "keep": Keep.LAST,
            "best_metric": BestMetric.LOSS,
            "keep_best_checkpoint": False,
            "early_stopping_patience": None,
            "max_restarts": 0,
            "out_of_memory_retries": 0,
            "tensorboard": False,
        }
    )
    update = {"validation_fraction": 0.0, **sets}
    return profile.model_copy(
        update={"data": data.model_copy(update=update), "training": training, "sweep": None}
    )


def _words(is_on: bool, what: str) -> str:  # noqa: FBT001 - "with" or "without"
    return f"with {what}" if is_on else f"without {what}"


def _names(devices: Sequence[PhysicalDevice]) -> dict[str, str]:
    """What each device is called; two of one name are counted."""
    names = [device.name for device in devices]
    found = {}
    for place, device in enumerate(devices):
        number = names[: place + 1].count(device.name)
        is_single = names.count(device.name) == 1
        found[device.key] = device.name if is_single else f"{device.name} ({number})"
    return found


def _planned(
    profile: Profile,
    wanted: Sequence[BenchCandidate],
    names: dict[str, str],
    prepare: Prepare,
) -> Candidates:
    tried: list[PlannedCandidate] = []
    left_out: list[LeftOut] = []
    for candidate, derived, preparation in _prepared(profile, wanted, prepare):
        plan = preparation.plan
        replicas = 1 if plan is None else len(plan.without_idle_replicas().replicas)
        is_shared = candidate.strategy.kind in SHARING_KINDS
        if plan is not None and is_shared and replicas < 2:
            continue  # one replica takes everything: it is the device alone
        candidate = candidate.model_copy(update={"replicas": replicas})
        name = candidate.name(names[candidate.device_keys[0]])
        if plan is None or not preparation.is_startable:
            errors = (problem for problem in preparation.problems if problem.is_error)
            left_out.append(LeftOut(name=name, problem=next(errors, _NO_PLAN)))
        elif len(tried) == MOST_CANDIDATES // 2:
            left_out.append(LeftOut(name=name, problem=_TOO_MANY))
        elif not any(_is_same(plan, derived, each) for each in tried):
            tried.append(PlannedCandidate(candidate, name, derived, plan))
    return Candidates(tuple(tried), tuple(left_out[:MOST_CANDIDATES]))


def _prepared(
    profile: Profile, wanted: Sequence[BenchCandidate], prepare: Prepare
) -> Iterator[tuple[BenchCandidate, Profile, Preparation]]:
    base = measured_profile(profile)
    for candidate in wanted:
        derived = candidate.applied(base)
        yield candidate, derived, prepare(derived)


def _is_same(plan: LaunchPlan, profile: Profile, other: PlannedCandidate) -> bool:
    return plan == other.plan and profile.training == other.profile.training


def _alone(profile: Profile, device: PhysicalDevice) -> BenchCandidate:
    alone = StrategySettings(kind=StrategyKind.ONE_DEVICE)
    return _candidate(profile, BenchDivision.ALONE, (device,), alone)


def _of_all(
    profile: Profile, devices: Sequence[PhysicalDevice], division: BenchDivision
) -> BenchCandidate:
    shares = "balanced" if division is BenchDivision.BALANCED else "equal"
    strategy = StrategySettings(kind=StrategyKind.MIRRORED)
    if profile.strategy.kind in SHARING_KINDS:
        strategy = profile.strategy
    strategy = strategy.model_copy(update={"shares": shares})
    return _candidate(profile, division, devices, strategy)


def _as_chosen(profile: Profile, devices: Sequence[PhysicalDevice]) -> BenchCandidate:
    is_alone = profile.strategy.kind is StrategyKind.ONE_DEVICE
    if is_alone:
        return _alone(profile, devices[0])
    return _candidate(profile, BenchDivision.CHOSEN, devices, profile.strategy)


def _candidate(
    profile: Profile,
    division: BenchDivision,
    devices: Sequence[PhysicalDevice],
    strategy: StrategySettings,
) -> BenchCandidate:
    keys = tuple(device.key for device in devices)
    is_alone = strategy.kind is StrategyKind.ONE_DEVICE
    return BenchCandidate(
        division=division,
        device_keys=keys,
        visible=keys,
        cpu_replicas=1 if keys == (CPU_KEY,) and is_alone else profile.devices.cpu_replicas,
        strategy=strategy,
        jit_compile=profile.training.jit_compile,
        mixed_precision=profile.training.mixed_precision,
    )
