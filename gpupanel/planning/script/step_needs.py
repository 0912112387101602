"""What the steps of a script have to do: what a profile needs beside the plain update."""

from dataclasses import dataclass

from gpupanel.domain.data import Target
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import HalfPrecision, Recompute
from gpupanel.planning.script.loss_section import weights_classes


@dataclass(frozen=True, slots=True)
class StepNeeds:
    """What the steps of a profile have to do.

    Attributes:
        on_replicas: Several of them share a batch.
        accumulates: Each takes its part of a batch in micro-batches, one after the other.
        draws: Layers draw random numbers, as dropout does.
        draws_anything: They may draw others, too.
        normalises: The model has batch normalisation.
        has_sparse_gradients: Some gradients may be no dense tensors: a layer embeds, or may.
        clips: The norm of the gradient has a limit.
        decays: Each update makes the weights smaller.
        is_compiled: By XLA.
        weights_classes: Classes do not count alike.
        augments: Examples are changed.
        measures: Something is measured beside training.
        keeps_averages: Of the weights.
        changes_loss: Another loss is made small than is measured.
        recomputes: Activations are computed again for the gradients.
        scales_loss: Layers compute in float16.
        pipelines: Micro-batches are computed by several devices at once.
    """

    on_replicas: bool
    accumulates: bool
    draws: bool
    draws_anything: bool
    normalises: bool
    has_sparse_gradients: bool
    clips: bool
    decays: bool
    is_compiled: bool
    weights_classes: bool
    augments: bool
    measures: bool
    keeps_averages: bool
    changes_loss: bool
    recomputes: bool
    scales_loss: bool
    pipelines: bool

    @property
    def learns_in_parts(self) -> bool:
        """Whether a replica's gradients are not those of a plain call alone."""
        return self.accumulates or self.normalises

    @property
    def state(self) -> str:
        """What a replica calculates with, as arguments."""
        state = "weights, centres" if self.normalises else "weights"
        return f"{state}, loss_scale" if self.scales_loss else state

    @property
    def sums(self) -> str:
        """What the replicas find, and is summed over them."""
        return "loss, measure, gradients" + (", moments" if self.normalises else "")

    @property
    def place(self) -> str:
        """Further arguments: where the examples stand in their batch, and the update's number."""
        return ", first, step" if self.draws else ""

    @property
    def place_of_replica(self) -> str:
        """The same of a whole replica's part."""
        first = "first" if self.on_replicas else "0"
        return f", tf.constant({first}), step" if self.draws else ""

    @property
    def micro_batches(self) -> str:
        """One more argument: how many of them a part has."""
        return ", micro_batches" if self.accumulates else ""


def step_needs(profile: Profile, plan: LaunchPlan) -> StepNeeds:
    """What the steps of that profile have to do, as the plan says."""
    model, data, training = profile.model, profile.data, profile.training
    # Where nobody knows whether it normalises, nobody knows what it draws, either.
    accumulates = plan.accumulation_steps > 1
    draws_anything = model.normalises_batches is None
    return StepNeeds(
        on_replicas=len(plan.replicas) > 1,
        accumulates=accumulates,
        draws=draws_anything or getattr(model, "dropout", 0.0) > 0.0,
        draws_anything=draws_anything,
        normalises=model.normalises_batches is not False,
        has_sparse_gradients=model.is_code or model.is_saved or data.token_count > 0,
        clips=training.clip_norm is not None,
        decays=training.decays_weights,
        is_compiled=training.jit_compile,
        weights_classes=weights_classes(data),
        augments=data.chosen_augmentation.changes_anything,
        measures=data.may_validate or data.may_test,
        keeps_averages=training.ema is not None,
        changes_loss=training.changes_loss and data.target_kind is not Target.VALUES,
        recomputes=training.recompute is not Recompute.NONE,
        pipelines=accumulates and bool(plan.places) and profile.strategy.pipeline,
        scales_loss=training.mixed_precision and plan.half_precision is HalfPrecision.FLOAT16,
    )
