"""All kinds of model with what decides between them, for a list to choose from."""

from dataclasses import dataclass
from typing import Final

from gpupanel.domain.applications import APPLICATIONS
from gpupanel.domain.kind import Kind, kinds_of
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.model_kind import ExampleKind, Model
from gpupanel.planning.own_data import pretrained_networks

_TAKES: Final = {
    ExampleKind.ANY: "any data",
    ExampleKind.IMAGES: "images",
    ExampleKind.WORDS: "texts",
    ExampleKind.COLUMNS: "tables",
}


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One kind of model.

    Attributes:
        kind: Which.
        group: Those that are alike: "Pretrained, small", for instance.
        takes: What it learns from: "images", for instance.
        side: Pixels of a side of the images that its published weights were trained on; 0: it has
            none.
        download_bytes: Of these weights, about; 0: likewise.
        suits_few: Whether it is a good beginning for few images.
    """

    kind: Kind
    group: str
    takes: str
    side: int = 0
    download_bytes: int = 0
    suits_few: bool = False

    @property
    def is_pretrained(self) -> bool:
        """Whether weights were published that it can begin with."""
        return self.download_bytes > 0


def model_entries() -> tuple[ModelEntry, ...]:
    """Each kind of model once: small pretrained ones, large ones, from scratch, of one's own."""
    kinds = {each.source: each for each in kinds_of(ModelSettings)}
    small = pretrained_networks()
    larger = sorted(set(APPLICATIONS) - set(small), key=lambda each: each.parameters)
    pretrained = [
        ModelEntry(
            kinds.pop(each.name),
            "Pretrained, small" if each in small else "Pretrained, large",
            _TAKES[ExampleKind.IMAGES],
            each.usual_side,
            each.weights.size_bytes,
            suits_few=each in small,
        )
        for each in (*small, *larger)
    ]
    others = [_without_weights(each) for each in kinds.values()]
    return (*pretrained, *sorted(others, key=lambda each: each.group))


def _without_weights(kind: Kind) -> ModelEntry:
    model = kind.new()
    assert isinstance(model, Model)
    is_own = model.is_code or model.is_saved
    group = "Your own model" if is_own else "From scratch"
    return ModelEntry(kind, group, _TAKES[model.takes])
