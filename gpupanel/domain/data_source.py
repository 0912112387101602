"""What every source of data has, and what is asked about it."""

import enum
from collections.abc import Iterable
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.augmentation import NO_AUGMENTATION, Augmentation
from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.decoded_images import PictureForm
from gpupanel.domain.files_below import files_below
from gpupanel.domain.kind import KindValue
from gpupanel.domain.setting import Setting, SettingType, setting, settings_of
from gpupanel.domain.value import Fraction

LABEL_FIELDS = frozenset(
    {
        *("data.files", "data.labels", "data.labels_csv", "data.label_columns", "data.target"),
        *("data.file_column", "data.outputs"),
    }
)
"""The settings that say what examples are: problems with these do not matter to predicting."""


class DataCache(ChoiceEnum):
    """Where decoded examples are kept between epochs."""

    NONE = "none", "None", "Reads and decodes again in each epoch."
    MEMORY = "memory", "In memory", "Fastest; the decoded examples must fit."
    DISK = (
        "disk",
        "On disk",
        "For decoded examples that do not fit in memory; later runs find them there.",
    )


class Holdout(ChoiceEnum):
    """Which examples are held out, where a fraction of them is."""

    RANDOM = "random", "At random", "Chosen at random, by the seed alone."
    LAST = (
        "last",
        "The last ones",
        "The last ones in the order of the data: of measurements over time, the latest.",
    )


class ClassWeights(ChoiceEnum):
    """How much an example of each class counts while it is trained on, found by itself."""

    NONE = "none", "Equal", "Each example counts the same, whatever its class."
    BALANCED = (
        "balanced",
        "Balanced",
        (
            "Examples of rare classes count more: each by the inverse of its class's number of "
            "training examples, so that every class counts the same. The training loss is "
            "weighted; the validation loss is not."
        ),
    )


ClassWeight = Annotated[float, Field(ge=0.0, le=1e6)]
"""What the loss of an example is multiplied by."""


class Target(ChoiceEnum):
    """What the labels are."""

    CLASSES = "classes", "A class", "Labels are class numbers, from 0 on."
    LABELS = "labels", "Several labels", "Each of several labels is true or not, such as tags."
    VALUES = "values", "A value", "Labels are numbers to be predicted, such as prices."


class Scaling(enum.Enum):
    """What the model's first layer does to raw features."""

    NONE = enum.auto()
    DIVIDE = enum.auto()
    """Divide by the greatest value, so that pixels lie in 0 to 1."""
    STANDARDISE = enum.auto()
    """Subtract the training examples' mean and divide by their standard deviation, by column."""


class Axes(ChoiceEnum):
    """The order of the axes of an array of examples."""

    CHANNELS_LAST = (
        "channels_last",
        "Channels last",
        "Examples, height, width, channels, as TensorFlow has them.",
    )
    CHANNELS_FIRST = (
        "channels_first",
        "Channels first",
        "Examples, channels, height, width, as PyTorch has them: channels are moved to the end.",
    )
    EXAMPLES_LAST = (
        "examples_last",
        "Examples last",
        "Height, width, channels, examples, as MATLAB has them: examples are moved to the front.",
    )


MOST_FOLDS: Final = 100
"""Parts of the examples in a cross-validation."""


class DataSource(KindValue):
    """What every source has, and what is asked about it.

    ``validation_fraction`` is 0 for no validation. Left out (``None``): a source with a test set of
    its own validates on it, another holds back nothing.
    """

    has_test_set: ClassVar[bool | None] = False
    """Whether it brings a test set of its own; ``None``: known when it is read."""
    may_lack_labels: ClassVar[bool] = False
    """Whether it may be predicted on without labels."""
    predicts_on_unlabelled: ClassVar[bool] = False
    """Whether a folder of it may hold examples without a label, which are predicted on, too."""
    may_predict_several: ClassVar[bool] = False
    """Whether several values an example may be predicted."""
    may_have_inputs: ClassVar[bool] = False
    """Whether it may give several inputs."""
    may_have_arrays: ClassVar[bool] = False
    """Whether it may give several outputs, and labels that are arrays."""
    may_move_axes: ClassVar[bool] = False
    """Whether the axes of its examples may come in an order that ``axes`` says."""
    makes_features: ClassVar[bool] = False
    """Whether its features depend on what the training data held: a vocabulary, means, categories.
    A model that was trained on it keeps a record of them."""
    has_categories: ClassVar[bool] = False
    """Whether features may be 0 or 1, which stay so where the others are standardised."""
    leaves_out_unlabelled: ClassVar[bool] = False
    """Whether an example without a label is left out of training, and counted no more."""
    is_decoded: ClassVar[bool] = False
    """Whether examples are decoded from files, and kept where ``cache`` says."""
    path_noun: ClassVar[str] = "file"
    """What its path leads to."""
    greatest: ClassVar[int] = 255
    """The greatest value a pixel can have."""
    asked_as: ClassVar[AskedKind] = AskedKind.NONE
    """What a single example is, as a rule."""

    validation_fraction: Fraction | None = setting(
        "Validation",
        "The fraction of the examples that is held out, such as 0.2; 0 holds out none. Examples "
        "that are never trained on show after each epoch whether the model generalises or only "
        "memorises. A test set of the source's own that does not validate is evaluated once, at "
        "the end of the training.",
        default=None,
        off="the source's own test set, or none",
        examples=[0.2],
    )
    holdout: Holdout = setting(
        "Held out",
        "Which examples are held out. Neighbours in a series resemble each other: where the "
        "future is to be predicted, only the last ones show how well the model does.",
        default=Holdout.RANDOM,
        needs=("validation_fraction",),
    )
    stratify: bool = setting(
        "Stratify by class",
        "Hold out the same fraction of every class, so that rare ones are both held out and "
        "trained on.",
        default=False,
        applies={"holdout": ("random",)},
        needs=("validation_fraction",),
    )
    fold: Annotated[int, Field(ge=1, le=MOST_FOLDS)] | None = setting(
        "Fold",
        "Cross-validation: the examples are divided into parts of the validation fraction each, "
        "five with 0.2, and this one is held out. Over all folds each example is held out exactly "
        "once. A sweep with folds trains one run for each.",
        default=None,
        off="none",
        advanced=True,
        applies={"holdout": ("random",)},
        needs=("validation_fraction",),
        examples=[1],
    )
    class_weights: ClassWeights | dict[str, ClassWeight] = setting(
        "Class weights",
        "How much an example of each class counts while it is trained on. Where one class is much "
        "rarer than others, a model that never predicts it is nearly always right. A table gives "
        "weights by the class's name, such as { cat = 1.0, dog = 3.5 }; a class that is not in it "
        "counts 1.",
        default=ClassWeights.NONE,
        advanced=True,
    )
    oversample: bool = setting(
        "Oversample rare classes",
        "Repeat the examples of rare classes until each class is equally frequent in an epoch, "
        "which is then longer. Which of them are repeated once more is chosen at random in each "
        "epoch.",
        default=False,
        advanced=True,
    )
    shuffle: bool = setting(
        "Shuffle each epoch",
        "Put the training examples into a new random order in each epoch, by the seed alone. "
        "Without it every epoch sees the same batches.",
        default=True,
        advanced=True,
    )
    cache: DataCache = setting(
        "Cache",
        "Where decoded examples are kept between epochs.",
        default=DataCache.MEMORY,
        advanced=True,
    )

    @property
    def target_kind(self) -> Target | None:
        """What the labels are: what ``predicts`` says, classes where a source has no such setting.

        ``None``: found when they are read.
        """
        target: Target | None = getattr(self, "predicts", Target.CLASSES)
        return target

    @property
    def is_in_class_order(self) -> bool:
        """Whether its examples come class by class, so that the last are of the last classes."""
        return False

    @property
    def needs_detection(self) -> bool:
        """Whether it is said only when it is read which part of it is what."""
        offered = (each for each in settings_of(type(self)) if each.is_offered)
        left_out = any(getattr(self, each.name) is None for each in offered)
        return (left_out or self.target_kind is None) and not self.lacks_path

    @property
    def is_plain(self) -> bool:
        """Whether no setting names several inputs or outputs, or does without labels."""
        return True

    @property
    def picture(self) -> PictureForm | None:
        """How a picture in a file becomes one of its examples, where no setting says it.

        ``None``: they say it, it does not become one, or the model alone shows it.
        """
        return None

    @property
    def asked_kind(self) -> AskedKind:
        """What a person gives who asks a model about a single example."""
        return self.asked_as

    @property
    def files_setting(self) -> Setting | None:
        """The setting that names single files to predict on; ``None``: it has none."""
        files = (each for each in settings_of(type(self)) if each.type is SettingType.FILES)
        return next(files, None)

    @property
    def chosen_files(self) -> tuple[str, ...]:
        """The files that were chosen one by one: nothing says what they are."""
        files: tuple[str, ...] = (
            getattr(self, self.files_setting.name) if self.files_setting else ()
        )
        return files

    def with_files(self, paths: Iterable[str]) -> Self:
        """The same with these files alone; what means nothing beside them is as it was at first.

        Args:
            paths: Absolute.
        """
        key, folder = self.files_setting, self.path_setting
        if key is None or folder is None:
            return self
        root, names = files_below(paths)
        chosen = self.model_copy(update={folder.name: root, key.name: names})
        unused = (each for each in settings_of(type(self)) if key.name in each.applies)
        return chosen.model_copy(update={each.name: each.default for each in unused})

    @property
    def described(self) -> str:
        """Which data it is, within a sentence."""
        return self.chosen_path

    @property
    def chosen_axes(self) -> Axes | None:
        """What a person said of the order of the axes; ``None``: nothing."""
        return None

    @property
    def example_axes(self) -> int | None:
        """Axes of one example; ``None``: known when it is read.

        1: numbers in a row; 2: an image; 3: an image with channels.
        """
        return None

    @property
    def has_images(self) -> bool | None:
        """Whether its examples are images; ``None``: known when it is read."""
        return None if self.example_axes is None else self.example_axes > 1

    @property
    def chosen_shape(self) -> tuple[int, ...]:
        """The shape of one example, where settings decide it; else empty."""
        return ()

    @property
    def chosen_class_count(self) -> int | None:
        """How many classes there are, where the setting ``class_count`` says it."""
        count: int | None = getattr(self, "class_count", None)
        return count

    @property
    def counts_classes_by_labels(self) -> bool:
        """Whether the greatest label alone shows how many classes there are, at least."""
        return "class_count" in type(self).model_fields and self.chosen_class_count is None

    @property
    def token_count(self) -> int:
        """How many different numbers stand for words, from 0 on; 0: the features are no words."""
        return 0

    @property
    def scaling(self) -> Scaling | None:
        """What is done to raw features; ``None``: known when they are read.

        Then bytes are pixels, and are divided by the greatest; other numbers stay as they are.
        """
        return None

    @property
    def chosen_augmentation(self) -> Augmentation:
        """How its examples are changed while they are trained on."""
        return NO_AUGMENTATION

    @property
    def left_out_classes(self) -> tuple[str, ...] | None:
        """Classes that ``leave_out`` names; ``None``: none can be left out by their names."""
        return None

    @property
    def chosen_group(self) -> str:
        """What says which examples are held out together; empty: nothing does."""
        return ""

    @property
    def chosen_validation_path(self) -> str:
        """Where a validation set of its own is; empty: it has none."""
        return "" if self.chosen_files else self.chosen_paths.get("validation_path", "")

    @property
    def has_validation_set(self) -> bool:
        """Whether a validation set of its own was chosen: no examples are held out then."""
        return bool(self.chosen_validation_path)

    @property
    def chosen_test_path(self) -> str:
        """Where a test set is that was chosen beside the data; empty: none was."""
        return "" if self.chosen_files else self.chosen_paths.get("test_path", "")

    @property
    def held_out_fraction(self) -> float:
        """The part of the training examples that is held out: 0 beside a validation set."""
        return 0.0 if self.has_validation_set else self.validation_fraction or 0.0

    @property
    def may_validate_on_test_set(self) -> bool:
        """Whether a test set of its own may validate: as far as is known before it is read.

        One that was chosen beside the data is for the end.
        """
        is_free = self.validation_fraction is None and not self.has_validation_set
        return is_free and self.has_test_set is not False and not self.chosen_test_path

    @property
    def may_validate(self) -> bool:
        """Whether there may be something to validate on; likewise."""
        has_some = self.has_validation_set or self.held_out_fraction > 0
        return has_some or self.may_validate_on_test_set

    @property
    def may_test(self) -> bool:
        """Whether there may be a test set that does not validate; likewise."""
        has_own = self.has_test_set is not False and not self.may_validate_on_test_set
        return has_own or bool(self.chosen_test_path)


class ImageSource(DataSource):
    """A source whose examples may be images."""

    augmentation: Augmentation = setting(
        "Augmentation",
        "Change the training images at random in each epoch, so that the model learns what does "
        "not matter. Validation examples stay as they are.",
        default=NO_AUGMENTATION,
        off="none",
    )

    @property
    @override
    def chosen_augmentation(self) -> Augmentation:
        return self.augmentation
