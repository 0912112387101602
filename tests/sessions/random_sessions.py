"""Sessions drawn at random: any settings with any others, most of which can start."""

import os
from random import Random
from typing import TypeVar

from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    ImagesData,
    NpzData,
    PythonData,
    Target,
)
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings, PythonModel, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.schedule import ScheduleKind, ScheduleSettings
from gpupanel.domain.strategy import GANG_KINDS, AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import Loss, TrainingSettings
from gpupanel.planning.rules.placement_rules import placeable_layers
from gpupanel.planning.shares import proportional_shares
from tests.sessions.material import FEATURES, LABELS, Material

T = TypeVar("T")

SEED = int(os.environ.get("SESSIONS_SEED", "1"))
"""Of all that is drawn; another one draws other sessions."""

_OF_DATA = ("pixels", "standardise", "channel")
"""Layers that are there for some data only; planning passes them, and a run may refuse them."""

NAMES = (
    "a session",
    '"""; raise SystemExit  # \\',
    "it's\n\x00\u202e",
    "$x {y} %s 名",
)


class RandomSessions:
    """Draws profiles for a machine without a GPU."""

    def __init__(self, material: Material, seed: int) -> None:
        self._material = material
        self._random = Random(seed)

    def draw(self) -> Profile:
        """One profile; whether it can start is for the planning to say."""
        random = self._random
        replicas = random.choice((1, 2, 2, 3, 4))
        task = random.choice(("train",) * 6 + ("evaluate", "predict"))
        data = self._data()
        training = self._training(replicas)
        model: ModelSettings = SavedModel(path="/models/none.keras")
        if task == "train":
            model = self._model(data)
        return Profile(
            name=random.choice(NAMES),
            task=task,
            devices=DeviceSettings(visible=("cpu",), cpu_replicas=replicas),
            strategy=self._strategy(replicas, training.global_batch_size, model, data),
            data=data,
            model=model,
            training=training,
            inference=InferenceSettings(
                examples=random.choice(("all", "training", "validation")),
                batch_size=random.randrange(1, 90),
                output=random.choice(("npz", "csv")),
            ),
        )

    def _maybe(self, value: T, otherwise: T, chance: float = 0.3) -> T:
        return value if self._random.random() < chance else otherwise

    def _data(self) -> DataSettings:
        random, material = self._random, self._material
        shared = {
            "validation_fraction": random.choice((None, 0.0, 0.2, 0.35)),
            "stratify": self._maybe(value=True, otherwise=False),
            "shuffle": self._maybe(value=False, otherwise=True),
            "cache": random.choice(list(DataCache)),
        }
        return random.choice(
            (
                lambda: DigitsData(**{**shared, "validation_fraction": 0.9}),
                lambda: NpzData(
                    path=str(material.columns),
                    class_count=random.choice((None, 4, 6)),
                    **shared,
                ),
                lambda: NpzData(
                    path=str(material.pixels), features=FEATURES, labels=LABELS, **shared
                ),
                lambda: ImagesData(
                    path=str(material.images),
                    image_size=(random.randrange(4, 12), random.randrange(4, 12)),
                    color=random.choice(("rgb", "grayscale")),
                    **shared,
                ),
                lambda: PythonData(
                    path=str(material.values_code), predicts=Target.VALUES, **shared
                ),
                lambda: PythonData(path=str(material.pixels_code), **shared),
            )
        )()

    def _model(self, data: DataSettings) -> ModelSettings:
        random, material = self._random, self._material
        common = {
            "dropout": self._maybe(0.4, 0.0),
            "batch_norm": self._maybe(value=True, otherwise=False, chance=0.4),
            "batch_norm_synchronized": self._maybe(value=False, otherwise=True),
        }
        hidden = random.choice(((), (8,), (12, 6)))
        # Whether Python code gives images is known when it runs; these values are none.
        images = ("cnn", "cnn") if data.target_kind is Target.CLASSES else ()
        kind = random.choice(("mlp", "mlp", *images, "python"))
        if kind == "cnn":
            filters = random.choice(((4,), (3, 5)))
            return CnnModel(filters=filters, hidden=hidden, **common)
        if kind == "python":
            pixels = isinstance(data, PythonData) and data.predicts is Target.CLASSES
            embedded = material.embedding_code if pixels else material.model_code
            return PythonModel(path=str(self._maybe(embedded, material.model_code, 0.5)))
        return MlpModel(hidden=hidden, **common)

    def _training(self, replicas: int) -> TrainingSettings:
        random = self._random
        optimizer = random.choice((Optimizer.SGD, Optimizer.SGD, *Optimizer))
        return TrainingSettings(
            epochs=random.choice((1, 2, 3)),
            global_batch_size=random.choice((replicas, 5, 16, 24, 64)),
            accumulation_steps=random.choice((1, 1, 1, 2, 3)),
            optimizer=optimizer,
            learning_rate=0.05 if optimizer is Optimizer.SGD else 1e-3,
            momentum=self._maybe(0.8, 0.0),
            nesterov=self._maybe(value=True, otherwise=False),
            weight_decay=self._maybe(random.choice((0.0, 0.02)), None),
            beta_1=self._maybe(0.85, None, 0.15),
            beta_2=self._maybe(random.choice((0.96, 0.9999)), None, 0.15),
            epsilon=self._maybe(1e-5, None, 0.15),
            ema=self._maybe(0.9, None),
            loss=self._maybe(Loss.FOCAL, Loss.AUTO, 0.15),
            label_smoothing=self._maybe(0.1, 0.0, 0.15),
            schedule=ScheduleSettings(
                kind=random.choice((*ScheduleKind, *[ScheduleKind.CONSTANT] * 4)),
                every_epochs=random.choice((1, 2)),
                warmup_epochs=random.choice((0.0, 0.4, 1.0)),
                least=self._maybe(0.3, 0.0),
                patience_epochs=1,
            ),
            clip_norm=self._maybe(0.3, None),
            mixed_precision=self._maybe(value=True, otherwise=False, chance=0.1),
            jit_compile=self._maybe(value=True, otherwise=False, chance=0.15),
            seed=random.randrange(2**31),
            early_stopping_patience=self._maybe(1, None),
            validate_every=random.choice((1, 1, 2, 9)),
            checkpoint_every_epochs=random.choice((0, 1)),
            tensorboard=False,
        )

    def _strategy(
        self, replicas: int, batch: int, model: ModelSettings, data: DataSettings
    ) -> StrategySettings:
        random = self._random
        kind = random.choice((*StrategyKind, StrategyKind.MIRRORED, StrategyKind.MIRRORED))
        shares: str | tuple[int, ...] = random.choice(("equal", "equal", "balanced"))
        if random.random() < 0.5:
            shares = proportional_shares(
                batch, [random.choice((0, 1, 2, 7)) for _ in "x" * replicas]
            )
        placement: object = None
        if kind is StrategyKind.MODEL_PARALLEL and isinstance(model, MlpModel | CnnModel):
            names = [name for name in placeable_layers(model, data) if name not in _OF_DATA]
            chosen = random.sample(names, min(2, len(names)))
            placement = {name: random.randrange(replicas) for name in chosen}
            placement = random.choice(("auto", placement))
        return StrategySettings(
            kind=kind,
            shares=shares,
            all_reduce=self._maybe(random.choice(list(AllReduce)), AllReduce.AUTO),
            workers=replicas if kind in GANG_KINDS else None,
            placement=placement,
            pipeline=self._maybe(value=True, otherwise=False),
            optimizer_state=self._maybe(
                random.choice(("sharded", tuple(range(1, replicas + 1)))), "replicated"
            ),
        )
