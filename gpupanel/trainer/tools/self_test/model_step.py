"""A training step of the profile's model on a device, held against the same step on the CPU."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import keras
import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataCache
from gpupanel.domain.optimizer import PLAIN_OPTIMIZER
from gpupanel.domain.plan import LaunchPlan, PlannedReplica
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.self_test import (
    MIXED_STEP_TOLERANCE,
    STEP_TOLERANCE,
    CaseResult,
    SelfTestCase,
)
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.training import HalfPrecision, TrainingSettings
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.learner import Learner, make_learner
from gpupanel.trainer.strategies.make_strategy import make_strategy
from gpupanel.trainer.tools.dry_run import DryRun, divided, some_of
from gpupanel.trainer.tools.self_test.finding import CaseFinding

if TYPE_CHECKING:
    from gpupanel.trainer.datasets.examples import Array

_EXAMPLES: Final = 32
_HOST: Final = "/device:CPU:0"
_WEIGHTS: Final = "model/"

_Update = dict[str, npt.NDArray[np.float64]]


class StepTest:
    """Makes the step on the CPU once, and then on each device from the same weights.

    Args:
        profile: Its model and data; a path in it is absolute.
        plan: Its devices are configured.
    """

    def __init__(self, profile: Profile, plan: LaunchPlan) -> None:
        self._profile, self._plan = _of_plain_descent(profile, plan), plan
        self._split: Split | None = None
        self._first: dict[str, Array] | None = None
        self._wanted: _Update | None = None

    def __call__(self, case: SelfTestCase) -> CaseFinding:
        """Hold the update of the weights against the CPU's."""
        (place,) = case.places
        if not self._profile.training.mixed_precision:
            # It rounds to 10 bits on the GPU alone: what is looked for would drown in it.
            tf.config.experimental.enable_tensor_float_32_execution(False)  # noqa: FBT003
        try:
            wanted = self._on_host()
        except ProblemError as error:
            # The CPU could not do it: nothing follows for the device.
            return CaseFinding(CaseResult.NOT_DONE, detail=error.problems[0].message)
        except Exception as error:  # noqa: BLE001 - whatever it is, the device was not asked yet
            return CaseFinding(CaseResult.NOT_DONE, detail=f"{type(error).__name__}: {error}")
        got = self._update_on(place.device_key, place.logical_device)
        return self._compared(got, wanted)

    def _on_host(self) -> _Update:
        if self._wanted is None:
            self._wanted = self._update_on("cpu", _HOST)
        return self._wanted

    def _update_on(self, key: str, device: str) -> _Update:
        """How much each weight changes in a step on that device."""
        if self._split is None:
            whole = divided(self._profile)
            self._split = Split(whole.data, some_of(whole.training, _EXAMPLES), None)
        count = len(self._split.training)
        run = DryRun(RunLayout(Path()), self._profile, _alone(self._plan, key, device, count))
        keras.utils.clear_session()
        with tf.device(device):
            learner = make_learner(run, self._split, make_strategy(run.plan))
            try:
                return self._stepped(learner, count)
            finally:
                learner.close()

    def _stepped(self, learner: Learner, count: int) -> _Update:
        if self._first is None:
            self._first = learner.state()
        # Initial weights that a device makes itself may differ in their last bit.
        learner.restore(self._first)
        calls = learner.calls
        calls.shares = (count,)
        calls.of(count)(np.arange(count, dtype=np.int32)[np.newaxis])
        after = learner.state()
        return {
            name: np.subtract(after[name].astype(np.float64), before.astype(np.float64))
            for name, before in self._first.items()
            if name.startswith(_WEIGHTS)
        }

    def _compared(self, got: _Update, wanted: _Update) -> CaseFinding:
        strange = [name for name, update in got.items() if not np.isfinite(update).all()]
        if strange and all(np.isfinite(update).all() for update in wanted.values()):
            detail = f"{strange[0]} and {len(strange) - 1} more are not finite after a step."
            return CaseFinding(CaseResult.NOT_A_NUMBER, detail=detail)
        if strange:
            return CaseFinding(CaseResult.NOT_DONE, detail="Not finite on the CPU either.")
        size = _norm(wanted.values())
        apart = _norm([got[name] - update for name, update in wanted.items()])
        differs = apart / size if size else apart
        mixed = self._profile.training.mixed_precision
        tolerance = MIXED_STEP_TOLERANCE if mixed else STEP_TOLERANCE
        words = f"Up to {tolerance:g} is usual{' with bfloat16' if mixed else ''}."
        if differs > tolerance:
            worst = max(wanted, key=lambda name: _norm([got[name] - wanted[name]]))
            words += f" {worst.removeprefix(_WEIGHTS)} differs most."
            return CaseFinding(CaseResult.WRONG, differs, words)
        return CaseFinding(CaseResult.PASSED, differs, words)


def _norm(updates: Iterable[npt.NDArray[np.float64]]) -> float:
    return float(np.sqrt(sum(float(np.square(each).sum()) for each in updates)))


def _of_plain_descent(profile: Profile, plan: LaunchPlan) -> Profile:
    """The update is the gradient itself: Adam enlarges the noise of those that are nearly 0.

    In float16 the first updates may be left out, and nothing would be compared: it is float32 then.
    """
    is_float16 = plan.half_precision is HalfPrecision.FLOAT16
    training = TrainingSettings(
        optimizer=PLAIN_OPTIMIZER,
        learning_rate=1.0,
        mixed_precision=profile.training.mixed_precision and not is_float16,
        jit_compile=profile.training.jit_compile,
        seed=profile.training.seed,
        global_batch_size=_EXAMPLES,
    )
    data = profile.data.model_copy(update={"cache": DataCache.NONE})
    if profile.data.chosen_augmentation is not None:
        data = data.model_copy(update={"augmentation": Augmentation()})
    model = profile.model.with_all_learning()
    return profile.model_copy(update={"training": training, "data": data, "model": model})


def _alone(plan: LaunchPlan, key: str, device: str, count: int) -> LaunchPlan:
    replica = PlannedReplica(index=0, device_key=key, logical_device=device, share=count)
    return plan.model_copy(
        update={
            "strategy": StrategyKind.ONE_DEVICE,
            "replicas": (replica,),
            "global_batch_size": count,
            "accumulation_steps": 1,
            "balanced": False,
        }
    )
