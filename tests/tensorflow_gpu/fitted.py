"""Models that are too large for two or three cards, and what the cards hold of ways that fit."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gpupanel.domain.events import EpochDone, MemoryReported
from gpupanel.domain.ladder import Ladder, Rung
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.fixes import apply_fix
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from tests.nvml.standin import RTX_3060, RTX_4090, StandinGpu, StandinState
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess
from tests.unit.trainer.trained_runs import all_events

THIRD = replace(RTX_3060, uuid=f"{RTX_3060.uuid[:-1]}1", bus="00000000:03:00.0")
CARDS: dict[str, tuple[StandinGpu, ...]] = {
    "24 + 12": (RTX_4090, RTX_3060),
    "24 + 8": (RTX_4090, RTX_3060),
    "12 + 8": (RTX_4090, RTX_3060),
    "3 x 11": (RTX_4090, RTX_3060, THIRD),
}
SIZES = {"24 + 12": (24, 12), "24 + 8": (24, 8), "12 + 8": (12, 8), "3 x 11": (11, 11, 11)}
IMAGES, WORDS = "images", "words"


@dataclass(frozen=True)
class TriedModel:
    """A model, and how large its cards are for it.

    Attributes:
        settings: Its table of a profile.
        gib: MiB that stand for a GiB of a card: a processor has to train what fits.
        data: What it takes.
    """

    settings: str
    gib: int
    data: str = IMAGES

    @property
    def convolves(self) -> bool:
        """Whether it has convolutions."""
        return self.data == IMAGES and "mlp" not in self.settings


MODELS = {
    "MLP": TriedModel('source = "mlp"\nhidden = [2048, 2048]', 12),
    "CNN": TriedModel('source = "cnn"\nfilters = [32, 64, 128]\nhidden = [256]', 12),
    "ResNet": TriedModel('source = "resnet"', 16),
    "transformer": TriedModel(
        'source = "transformer"\nblocks = 6\nwidth = 128\nhidden_units = 512', 20, WORDS
    ),
    "MobileNetV2": TriedModel('source = "MobileNetV2"', 16),
    "EfficientNetB0": TriedModel('source = "EfficientNetB0"', 20),
    "ResNet50": TriedModel('source = "ResNet50"', 64),
    "DenseNet121": TriedModel('source = "DenseNet121"', 36),
    "ConvNeXtTiny": TriedModel('source = "ConvNeXtTiny"', 72),
    "VGG16": TriedModel('source = "VGG16"', 40),
}
_SPARE = 2.0
"""What a card is given of what it should need for convolutions. The processor's kernels unfold
images for them, and turn what they are given and give into another layout, which those of CUDA do
not: seen were 1.04 to 1.4 times what was predicted, most for the large layers of the plain CNN."""
SIDE, LENGTH = 32, 64
EXAMPLES = 2_048


def write_data(folder: Path) -> None:
    """Random images and texts, of two classes each."""
    drawn = np.random.default_rng(0)
    labels = np.arange(EXAMPLES) % 2
    pixels = drawn.integers(0, 256, (EXAMPLES, SIDE, SIDE, 3), dtype=np.uint8)
    np.savez(folder / "images.npz", x=pixels, y=labels)
    words = np.array([f"word{number}" for number in range(2_000)])
    lines = [" ".join(drawn.choice(words, LENGTH)) for _ in range(EXAMPLES)]
    rows = [f'"{line}",{label}' for line, label in zip(lines, labels, strict=True)]
    (folder / "words.csv").write_text("\n".join(["text,label", *rows]) + "\n")


def tell(cards: CardsOfThisProcess, sizes: str) -> None:
    """These cards are there, and nobody uses them."""
    cards.tell(StandinState(gpus=tuple(replace(each, memory_used_mib=0) for each in CARDS[sizes])))


def profile_of(folder: Path, model: str, sizes: str, batch: int) -> Profile:
    """A profile for all cards, each with its limit."""
    tried = MODELS[model]
    file = folder / "profile.toml"
    source = (
        f'source = "npz"\npath = "{folder}/images.npz"\n'
        if tried.data == IMAGES
        else f'source = "text"\npath = "{folder}/words.csv"\nlength = {LENGTH}\n'
    )
    keys = [each.uuid for each in CARDS[sizes]]
    limits = "".join(
        f'[memory."{key}"]\npolicy = "limit"\nlimit_mib = {size * tried.gib}\n'
        for key, size in zip(keys, SIZES[sizes], strict=True)
    )
    file.write_text(
        f'schema_version = 1\ntask = "train"\n[devices]\nvisible = {json.dumps(keys)}\n'
        f'{limits}[strategy]\nkind = "mirrored"\n[data]\n{source}'
        f"validation_fraction = 0.05\n[model]\n{tried.settings}\n"
        f"[training]\nepochs = 1\nglobal_batch_size = {batch}\n"
    )
    return read_profile(file)


def ways_of(cards: CardsOfThisProcess, profile: Profile, folder: Path) -> Ladder:
    """What ``gpupanel fit`` says of it."""
    file = folder / "asked.toml"
    write_profile(file, profile)
    document = json.loads(cards.gpupanel("fit", file, "--json").stdout)
    for rung in document["rungs"]:
        for memory in rung["memory"]:
            del memory["total_mib"], memory["counted_mib"]  # sums
    return Ladder.model_validate(document)


def too_large(cards: CardsOfThisProcess, folder: Path, model: str, sizes: str) -> Ladder:
    """The ways for a batch that is half as large again as what fits."""
    fits = ways_of(cards, profile_of(folder, model, sizes, 64), folder).rungs[0].largest_batch
    assert fits is not None
    # Where not even one example fits, the weights are too large.
    profile_of(folder, model, sizes, fits + fits // 2 + 1 if fits else 64)
    return ways_of(cards, read_profile(folder / "profile.toml"), folder)


def trained(
    cards: CardsOfThisProcess, folder: Path, tried: TriedModel, rung: Rung, name: str
) -> tuple[dict[str, float], bool]:
    """What the allocator of each card held at the most, over what was predicted; how it ended."""
    profile = read_profile(folder / "profile.toml")
    changed = apply_fix(profile, rung.fix) if rung.fix is not None else profile
    if tried.convolves:
        memory = {
            key: each.model_copy(update={"limit_mib": round(_SPARE * each.limit_mib)})
            for key, each in changed.memory.items()
            if isinstance(each, LimitedMemory)
        }
        changed = changed.model_copy(update={"memory": memory})
    place = folder / name
    place.mkdir()
    write_profile(place / "profile.toml", changed)
    ran = cards.gpupanel("run", place / "profile.toml", GPUPANEL_RUNS_DIR=str(place / "runs"))
    assert ran.returncode == 0, f"{rung.title}: {ran.stdout}{ran.stderr}"
    (root,) = (place / "runs").iterdir()
    events = all_events(RunLayout(root))
    held: dict[str, int] = {}
    for event in events:
        if isinstance(event, MemoryReported):
            for device in event.devices:
                held[device.device_key] = max(held.get(device.device_key, 0), device.peak_mib)
    predicted = {each.device: each.counted_mib for each in rung.memory}
    return (
        {key: held[key] / mib for key, mib in predicted.items() if key in held and mib},
        any(isinstance(event, EpochDone) for event in events),
    )
