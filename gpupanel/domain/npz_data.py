"""Arrays in NumPy's files: which of them are what."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import Axes, ImageSource, Target
from gpupanel.domain.kind import kind
from gpupanel.domain.setting import Meant, PathKind, setting
from gpupanel.domain.source_settings import (
    FOUND_TARGET,
    ONE_INPUT,
    ONE_OUTPUT,
    ClassCount,
    class_count_setting,
    inputs_setting,
    outputs_setting,
    set_path_setting,
)

_ONE_OF_EACH: Mapping[str, Meant] = {**ONE_INPUT, **ONE_OUTPUT}
_LABELS: Mapping[str, Meant] = {**ONE_OUTPUT, "autoencoder": (False,)}


class NpzData(ImageSource):
    """Arrays of numbers, read without pickle: in one ``.npz`` file, or a ``.npy`` file each.

    Beside a ``.npy`` file the others of its folder are the arrays that there are, each named as
    its file. What is left out is found: which arrays are examples and labels, of training and of a
    test set, by their names (:mod:`gpupanel.trainer.datasets.arrays.layout`), and what the labels
    are by what they hold (:mod:`gpupanel.trainer.datasets.labels`). What is for a model of Python
    code alone is said, and never found: several inputs, several outputs, labels that are arrays,
    and none.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["npz"] = kind(
        Choice(
            "npz",
            "NumPy arrays (.npz, .npy)…",
            "Arrays of your own: the examples and their labels, in one .npz file or a .npy file "
            "each.",
        ),
    )
    path: str = setting(
        "File",
        "An .npz file with the arrays, or the .npy file of the examples; the labels are then in a "
        ".npy file of the same folder. They are read without pickle, so that they cannot run code.",
        path=PathKind((".npz", ".npy"), "NumPy files", "Choose the data"),
    )
    features: str | None = setting(
        "Examples array",
        "The array of examples; its first axis counts them. Detected where it has a common name, "
        "such as x, x_train or images.",
        default=None,
        off="automatic",
        is_offered=True,
        applies=ONE_INPUT,
    )
    labels: str | None = setting(
        "Labels array",
        "The array of labels: one, or a row of them, for each example; text names classes. "
        "Detected where it has a common name, such as y, y_train or labels. Labels that are "
        "arrays, such as masks, are for a model of Python code; say then what is predicted.",
        default=None,
        off="automatic",
        is_offered=True,
        applies=_LABELS,
    )
    inputs: tuple[str, ...] = inputs_setting("array", "arrays")
    outputs: dict[str, Target] = outputs_setting("array", "arrays")
    autoencoder: bool = setting(
        "Autoencoder",
        "Predict each example itself, as values: there are no labels. For a model of Python code.",
        default=False,
        advanced=True,
        applies=_ONE_OF_EACH,
    )
    validation_features: str | None = setting(
        "Validation examples array",
        "The array of a validation set's examples, in the validation file where there is one. "
        "Detected where it is called as the examples are, such as x_val beside x_train; no others "
        "are held out then.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
        applies=_ONE_OF_EACH,
    )
    validation_labels: str | None = setting(
        "Validation labels array",
        "The array of a validation set's labels. Detected where it is called as the labels are.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
        applies={**_ONE_OF_EACH, **_LABELS},
    )
    test_features: str | None = setting(
        "Test examples array",
        "The array of a test set's examples, in the test file where there is one. Detected where "
        "it is called as the examples are, such as x_test beside x_train.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
        applies=_ONE_OF_EACH,
    )
    test_labels: str | None = setting(
        "Test labels array",
        "The array of a test set's labels. Detected where it is called as the labels are.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
        applies={**_ONE_OF_EACH, **_LABELS},
    )
    axes: Axes | None = setting(
        "Axes",
        "The order of the axes of each array of examples. Automatic: examples first, channels "
        "last; where it seems to be another one, the preview says so.",
        default=None,
        off="automatic",
        advanced=True,
        applies=ONE_INPUT,
    )
    predicts: Target | None = setting(
        "Predicted",
        f"What the labels are. {FOUND_TARGET}",
        default=None,
        off="automatic",
        applies=_LABELS,
    )
    validation_path: str = set_path_setting(
        "Validation file",
        "A file of the same kind with the examples that validate; no others are held out then.",
        PathKind((".npz", ".npy"), "NumPy files", "Choose the validation data"),
    )
    test_path: str = set_path_setting(
        "Test file",
        "A file of the same kind with the examples that the trained model is measured on once, at "
        "the end. They replace a test set in the file itself.",
        PathKind((".npz", ".npy"), "NumPy files", "Choose the test data"),
    )
    class_count: ClassCount | None = class_count_setting(applies=_LABELS)

    module: ClassVar[str] = "npz"
    asked_as: ClassVar[AskedKind] = AskedKind.ARRAY
    has_test_set: ClassVar[bool | None] = None
    may_lack_labels: ClassVar[bool] = True
    may_predict_several: ClassVar[bool] = True
    may_have_inputs: ClassVar[bool] = True
    may_have_arrays: ClassVar[bool] = True
    may_move_axes: ClassVar[bool] = True

    @property
    @override
    def chosen_axes(self) -> Axes | None:
        return self.axes

    @property
    @override
    def has_validation_set(self) -> bool:
        return bool(self.validation_path or self.validation_features)

    @property
    @override
    def asked_kind(self) -> AskedKind:
        return AskedKind.NONE if self.inputs else self.asked_as

    @property
    @override
    def is_plain(self) -> bool:
        return not (self.inputs or self.outputs or self.learns_inputs)

    @property
    def learns_inputs(self) -> bool:
        """Whether each example is what is to be predicted of it."""
        return self.autoencoder and not self.inputs and not self.outputs
