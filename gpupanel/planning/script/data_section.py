"""The script's data: features ``x`` and labels ``y``, read and divided as a run does.

Lists of files, conversions and the order of examples are those of ``trainer/datasets``: what both
need stands in ``trainer/parts``, and tests hold the rest together. How each source is read stands
in ``sources``.
"""

import importlib
from abc import abstractmethod
from string import Template
from typing import Protocol, TypeVar

from gpupanel.domain.data import DataCache, DataSettings, Holdout, Target
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.model import ModelSettings
from gpupanel.planning.script.own_data_section import FEATURES, own_data_section
from gpupanel.planning.script.parts import definitions, part
from gpupanel.planning.script.sections import joined

_VALIDATION = """
x_val, y_val, x, y = x[held_back], y[held_back], x[kept], y[kept]
"""

_ARRAYS = """
def labels(array):
    array = np.asarray(array)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
$given"""

_CLASSES = """\
    return (array if array.ndim == 1 else array.argmax(axis=1)).astype(np.int32)


def class_count_of(array):
    \"\"\"Rows with a single 1 have a column a class.\"\"\"
    array = np.asarray(array)
    has_columns = array.ndim == 2 and array.shape[1] > 1
    return array.shape[1] if has_columns else int(array.max()) + 1
"""

_GIVEN = {
    Target.CLASSES: _CLASSES,
    Target.LABELS: "    return array.reshape(len(array), -1).astype(np.float32)\n",
    Target.VALUES: "    return array.astype(np.float32)\n",
}


def arrays_of(target: Target | None) -> str:
    """``features`` and ``labels``: arrays as a run takes them, by what the labels are.

    Where they are classes, ``class_count_of`` counts these.
    """
    labels = Template(_ARRAYS).substitute(given=_GIVEN[target or Target.CLASSES])
    return joined(FEATURES, labels)


AS_UTF8 = definitions("visible_text", "as_utf8")

Settings = TypeVar("Settings", bound=DataSource, contravariant=True)


class SourceScript(Protocol[Settings]):
    """Python that reads one kind of data, as its file in ``trainer/datasets`` does."""

    @abstractmethod
    def read(self, data: Settings, *, needs_labels: bool) -> str:
        """From nothing to the whole source.

        That is features ``x`` and labels ``y``, ``x_test`` and ``y_test`` of one that may bring a
        test set, ``x_val`` and ``y_val`` of a validation set, and ``class_count`` where classes are
        predicted.

        Args:
            data: Which; a path in it is absolute.
            needs_labels: Without it ``y`` may become ``None``.
        """
        ...

    def read_for_model(self, data: Settings, model_path: str, *, needs_labels: bool) -> str:
        """As :meth:`read`, for a saved model, whose file may say how its features were made."""
        del model_path
        return self.read(data, needs_labels=needs_labels)

    def read_to_train_model(self, data: Settings, model_path: str, *, own_targets: bool) -> str:
        """As :meth:`read`, for a saved model that is trained further.

        Args:
            data: Which.
            model_path: Of its file, which may say how its features are made.
            own_targets: What is predicted is found in the data, whatever the file says of it: the
                model gets a new last layer.
        """
        del model_path, own_targets
        return self.read(data, needs_labels=True)

    def class_names(self, data: Settings) -> str:
        """From what was read to ``class_names``; asked for where classes are predicted."""
        del data
        return "class_names = [str(number) for number in range(class_count)]"

    def kept_in_model(self, data: Settings, *, from_model: bool = False) -> str:
        """Adds to ``model.keras`` how the features were made, where a prediction has to know.

        Args:
            data: Which.
            from_model: A saved model's file said it, and is trained further.
        """
        del data, from_model
        return ""

    def pixels(
        self,
        data: Settings,
        *names: str,
        in_memory: bool,
        may_skip: bool = False,
        from_model: bool = False,
    ) -> str:
        """From what was read to what gives the features, where that is not the same.

        Args:
            data: Which.
            names: Of the variables.
            in_memory: Read them now, and not whenever they are needed.
            may_skip: Let others stand in for those that cannot be read.
            from_model: A saved model's file said how features are made.
        """
        del data, names, in_memory, may_skip, from_model
        return ""


def script_of(data: DataSettings) -> SourceScript[DataSettings]:
    """What reads that data in a script: the ``SCRIPT`` in the file that its ``module`` names."""
    module = importlib.import_module(f"gpupanel.planning.script.sources.{data.module}")
    script: SourceScript[DataSettings] = module.SCRIPT
    return script


def split_section(data: DataSettings) -> str:
    """From the training examples ``x`` and ``y`` to the numbers ``kept`` and ``held_back``."""
    count = f"count = round(len(x) * {data.held_out_fraction})"
    needed, order, chosen = ["drawn_order"], "order = drawn_order(len(x), SEED)", ""
    if data.holdout is Holdout.LAST:
        needed, order = [], "order = np.arange(len(x))[::-1]"
    elif data.chosen_group:
        needed, chosen = [*needed, "groups_first"], "groups_first(order, groups, count)"
    elif data.stratify and data.target_kind in (Target.CLASSES, None):
        needed.append("parts_of_classes_first")
        chosen = "parts_of_classes_first(order, y, count)"
    return joined(
        part("splits", *needed) if needed else "",
        order,
        count,
        f"order, count = {chosen}" if chosen else "",
        "kept, held_back = np.sort(order[count:]), np.sort(order[:count])",
    )


def data_section(
    data: DataSettings, model: ModelSettings | None = None, *, is_own_code: bool = False
) -> str:
    """Python that reads the data: ``x``, ``y``, and ``x_val`` and ``x_test`` where they are used.

    Images that are not to be kept in memory are read whenever they are needed.

    Args:
        data: Which.
        model: What is trained on it; ``None``: nothing that knows how its features are made.
        is_own_code: Of both: examples may have several inputs, and labels may be arrays.
    """
    script = script_of(data)
    from_model = model is not None and model.is_saved
    if is_own_code:
        read = own_data_section(data)
    elif model is None or not model.is_saved:
        read = script.read(data, needs_labels=True)
    else:
        own_targets = model.has_new_head
        read = script.read_to_train_model(data, model.chosen_path, own_targets=own_targets)
    # What is decoded to disk would be deleted at the end: here it is decoded again.
    in_memory = data.cache is DataCache.MEMORY
    names, held_back = ["x"], ""
    if data.held_out_fraction:
        held_back = joined(split_section(data), _VALIDATION)
    elif data.may_validate_on_test_set:
        held_back = "x_val, y_val = x_test, y_test"
    names += ["x_val"] if data.may_validate else []
    names += ["x_test"] if data.may_test else []
    pixels = script.pixels(data, *names, in_memory=in_memory, may_skip=True, from_model=from_model)
    return joined(read, held_back, pixels)
