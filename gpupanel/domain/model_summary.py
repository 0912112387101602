"""The layers of a model before it is trained: the question to the building process, its answer."""

from typing import Annotated

from pydantic import AfterValidator, Field

from gpupanel.domain.data import DataSettings
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.number_text import byte_size
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.step_memory import StepMemory, StepVariant
from gpupanel.domain.training import LayerNames, Recompute
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line

_FLOAT_BYTES = 4
"""Weights, gradients and what an optimizer keeps are float32, with mixed precision too."""

_Name = Annotated[str, AfterValidator(visible_line)]
_Count = Annotated[int, Field(ge=0)]


class SummaryRequest(Value):
    """What to build.

    Attributes:
        data: Whose examples the model takes; a path in it is absolute, or meant from the working
            directory.
        model: What is built.
        seed: Draws the validation split.
        mixed_precision: Whether layers compute with bfloat16.
        recompute: Which activations a step does not keep.
        with_variants: Also find out what a step holds with 16 bits and with 32, with activations
            kept and computed again, and layer by layer: it takes four times as long.
    """

    data: DataSettings
    model: ModelSettings
    seed: int = 0
    mixed_precision: bool = False
    recompute: Recompute | LayerNames = Recompute.NONE
    with_variants: bool = False

    @property
    def in_every_way(self) -> "SummaryRequest":
        """What is the same for all ways in which a step of the model can be computed."""
        blocks = Recompute.NONE if self.recompute is Recompute.BLOCKS else self.recompute
        changes = {"mixed_precision": False, "recompute": blocks, "with_variants": True}
        return self.model_copy(update=changes)


def summary_request(profile: Profile, *, with_variants: bool = False) -> SummaryRequest:
    """What to build for a profile that trains."""
    training = profile.training
    return SummaryRequest(
        data=profile.data,
        model=profile.model,
        seed=training.seed,
        mixed_precision=training.mixed_precision,
        recompute=training.recompute,
        with_variants=with_variants,
    )


class LayerSummary(Value):
    """One layer.

    Attributes:
        name: As Keras names it, and as a placement does.
        kind: The class of ``keras.layers``.
        output_shape: Of one example; ``None``: of any size. Empty where it gives several.
        parameters: How many numbers it holds.
        trainable: How many of them are learned.
        within: The name of the part that it stands in, of an architecture that is used as a layer.
    """

    name: _Name
    kind: _Name
    output_shape: tuple[int | None, ...] = ()
    parameters: _Count = 0
    trainable: _Count = 0
    within: _Name = ""

    @property
    def path(self) -> str:
        """The name, after that of the part that it stands in."""
        return f"{self.within}/{self.name}" if self.within else self.name


class ParameterCounts(Value):
    """How many numbers a model holds.

    Attributes:
        trainable: Those that are learned.
        frozen: The others: of frozen layers, and the statistics of normalisation.
    """

    trainable: _Count = 0
    frozen: _Count = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.trainable + self.frozen


class ModelSummary(Value):
    """What is known of a model before it is trained.

    Attributes:
        layers: In the order in which an example passes them.
        fine_tuning: Which layers learn from a later epoch on: what is said of the others holds from
            then on; ``None``: it is the same all along.
        step: What a training step holds in memory; ``None``: not known.
        variants: What it holds computed in other ways, where that was asked for.
        needs_download: The data, whose examples have to be known, is not on this machine yet.
        needs_start: Data or model come from Python code, which only a run carries out.
        problems: Why it cannot be built, or trained as it was asked for.
    """

    layers: tuple[LayerSummary, ...] = ()
    parameters: ParameterCounts = ParameterCounts()
    fine_tuning: FineTuning | None = None
    step: StepMemory | None = None
    variants: tuple[StepVariant, ...] = ()
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()


def summary_sentence(summary: ModelSummary) -> str:
    """What is known, in one sentence."""
    if summary.needs_download:
        return "The layers are known once the data is on this machine."
    if summary.needs_start:
        return "The layers come from Python code, which is executed only by a run."
    if not summary.layers:
        return "The model cannot be built." if summary.problems else "No layers are known yet."
    counts = summary.parameters
    frozen = f", {counts.frozen:,} of them not trained" if counts.frozen else ""
    layers = f"{len(summary.layers):,} layer{'s' if len(summary.layers) > 1 else ''}"
    later = "" if summary.fine_tuning is None else f" {summary.fine_tuning.sentence}"
    taken = byte_size(counts.total * _FLOAT_BYTES)
    return f"{layers}, {counts.total:,} parameters{frozen}: {taken}.{later}"


def shape_text(layer: LayerSummary) -> str:
    """The shape of what a layer gives of one example ("8 x 8 x 16")."""
    return " x ".join("any" if side is None else f"{side}" for side in layer.output_shape)


def parameters_text(layer: LayerSummary) -> str:
    """How many numbers a layer holds, and whether they are learned; empty where it has none."""
    if not layer.parameters:
        return ""
    return f"{layer.parameters:,}{'' if layer.trainable else ' (frozen)'}"


def summary_text(summary: ModelSummary) -> str:
    """All of it, a layer a line, with tabs between: for a message or a spreadsheet."""
    rows = (
        (layer.path, layer.kind, shape_text(layer), f"{layer.parameters}")
        for layer in summary.layers
    )
    titles = ("Layer", "Kind", "Output", "Parameters")
    return "\n".join([summary_sentence(summary), "", *map("\t".join, (titles, *rows))])
