"""Examples that Python code of the person's own loads; see ``PythonData`` in the domain."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import MOST_CLASSES, PythonData, Scaling, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.array_labels import arrays_refused, checked_arrays
from gpupanel.trainer.datasets.checks import (
    ArrayName,
    check_lengths,
    checked_features,
)
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    Array,
    DataSet,
    Examples,
    Features,
    PackedInput,
)
from gpupanel.trainer.datasets.labels import Labels, checked_labels
from gpupanel.trainer.datasets.packed_inputs import (
    MOST_INPUTS,
    inputs_refused,
    inputs_text,
    packed,
)
from gpupanel.trainer.datasets.python_rows import python_rows
from gpupanel.trainer.datasets.source import Reading, Source, all_examples
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.parts.loaded_parts import (
    PARTS_OF_DATA,
    are_arrays,
    gives_rows,
    parts_by_name,
    rows_given,
)
from gpupanel.trainer.user_code import RunCode, exits_reported

_CONTRACT = (
    'load() gives {"x": examples, "y": labels}, if need be with "x_test", "y_test" and '
    '"class_names"; or (x, y); or ((x, y), (x_test, y_test)). Where the examples themselves are to '
    'be predicted, "y" is left out, and data.predicts is "values".'
)

_NOT_CARRIED_OUT = Problem(
    code="code_not_carried_out",
    field="data.path",
    message="What Python code loads is known only when a run executes it.",
    hint="Start a run.",
)


def read_python_data(
    data: PythonData, code: RunCode, seed: int, *, must_differ: bool = True
) -> DataSet:
    """Call the file's ``load`` and check what it gives.

    Args:
        data: Says what the labels are.
        code: The file.
        seed: For ``random`` and ``numpy.random``: each process of a run must get the same.
        must_differ: Refuse training labels that are all of one class.

    Raises:
        ProblemError: What it gives cannot be used.
        Exception: Whatever the code raises.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what the person's code may draw from
    loaded = code.function("load")()
    return _Loaded(data, code, _by_name(loaded, code), must_differ=must_differ).data_set()


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What ``load`` gave, by the names of its parts."""

    settings: PythonData
    code: RunCode
    parts: Mapping[str, object]
    must_differ: bool

    def data_set(self) -> DataSet:
        names = self._class_names()
        training, labels, inputs = self._examples("x", "y", len(names) or None)
        names = names or tuple(str(number) for number in range(labels.outputs))
        test = None
        if "x_test" in self.parts or "y_test" in self.parts:
            test, _, of_test = self._examples("x_test", "y_test", len(names) or None)
            self._check_inputs(inputs, of_test)
            self._check_shapes(training, test)
        is_pixels = training.features.dtype == np.uint8 and not inputs
        return DataSet(
            training=training,
            test=test,
            class_names=names,
            arrays_of=labels.target if labels.are_arrays else None,
            learns_inputs=self._learns_inputs,
            inputs=inputs,
            scaling=Scaling.DIVIDE if is_pixels else Scaling.NONE,
            greatest=255.0 if is_pixels else 1.0,
        )

    @property
    def _learns_inputs(self) -> bool:
        """Whether there are no labels, and what is predicted are the examples themselves."""
        has_labels = "y" in self.parts or "y_test" in self.parts
        is_one = not isinstance(self.parts.get("x"), Mapping)
        return self.settings.predicts is Target.VALUES and is_one and not has_labels

    def _examples(
        self, x: str, y: str, class_count: int | None
    ) -> tuple[Examples, Labels, tuple[PackedInput, ...]]:
        labels_of = self._name(y)
        features, inputs = self._features(x)
        if self._learns_inputs:
            none = np.zeros(features.shape[0], np.int32)
            labels = Labels(none, Target.VALUES, outputs=0, are_arrays=True)
        else:
            differ = self.must_differ and x == "x"
            labels = self._labels(self._array(y), labels_of, class_count, must_differ=differ)
        check_lengths(features, labels.array, self._name(x), labels_of)
        return Examples(features, labels.array), labels, inputs

    def _features(self, x: str) -> tuple[Features, tuple[PackedInput, ...]]:
        """Examples, and which inputs they are made of; none where they are one."""
        given = self.parts.get(x)
        if not isinstance(given, Mapping):
            return self._input(given, x), ()
        for name in given:
            if not isinstance(name, str) or not name or "/" in name:
                raise _misfit(self.code, f'"{x}" has an input called {name!r}')
        if not 1 <= len(given) <= MOST_INPUTS:
            raise _misfit(self.code, f'"{x}" has {len(given):,} inputs, not 1 to {MOST_INPUTS}')
        inputs = {name: self._input(part, f"{x}.{name}") for name, part in given.items()}
        counts = {name: part.shape[:1] for name, part in inputs.items()}
        if len(set(counts.values())) > 1:
            shown = inputs_text(counts)
            raise _misfit(self.code, f'the inputs of "{x}" have different lengths: {shown}')
        return packed(inputs)

    def _input(self, given: object, name: str) -> Features:
        of = self._name(name)
        rows = python_rows(given, self.code, of, self.settings.cache)
        return rows or checked_features(self._as_array(given, name), of)

    def _labels(
        self, raw: Array, name: ArrayName, class_count: int | None, *, must_differ: bool
    ) -> Labels:
        target = self.settings.predicts
        checked = (
            checked_arrays
            if are_arrays(raw, of_classes=target is Target.CLASSES)
            else checked_labels
        )
        return checked(raw, name, target, class_count, must_differ=must_differ)

    def _array(self, name: str) -> Array:
        return self._as_array(self.parts.get(name), name)

    def _as_array(self, given: object, name: str) -> Array:
        if given is None:
            raise _misfit(self.code, f'there is no "{name}"')
        if gives_rows(given):
            given = rows_given(given, exits_reported(self.code, given.__getitem__))
        try:
            return np.asarray(given)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            # Objects of the person's own raise what they like when they are made an array.
            raise _misfit(self.code, f'"{name}" is not an array: {error}') from error

    def _class_names(self) -> tuple[str, ...]:
        given = self.parts.get("class_names")
        if given is None or self.settings.predicts is Target.VALUES:
            return ()
        if not isinstance(given, list | tuple) or not given:
            raise _misfit(self.code, '"class_names" is not a list of names')
        if len(given) > MOST_CLASSES:
            raise _misfit(self.code, f'"class_names" has more than {MOST_CLASSES:,} names')
        return tuple(as_utf8(str(name)) for name in given)

    def _check_inputs(
        self, training: tuple[PackedInput, ...], test: tuple[PackedInput, ...]
    ) -> None:
        if training != test:
            one, other = (
                inputs_text({each.name: each.shape for each in inputs}) or "one input"
                for inputs in (training, test)
            )
            raise _misfit(self.code, f'one example has {one} in "x", and {other} in "x_test"')

    def _check_shapes(self, training: Examples, test: Examples) -> None:
        for what, name, one, other in (
            ("example", "x", training.feature_shape, test.feature_shape),
            ("row of labels", "y", training.labels.shape[1:], test.labels.shape[1:]),
        ):
            if one != other:
                raise _misfit(
                    self.code,
                    f'one {what} has the shape {one} in "{name}" and {other} in "{name}_test"',
                )

    def _name(self, part: str) -> ArrayName:
        return ArrayName(source=f"load() of {self.code.named}", name=part, field=self.code.key)


def _by_name(loaded: object, code: RunCode) -> Mapping[str, object]:
    parts = parts_by_name(loaded)
    if parts is None:
        raise _misfit(code, f"it is a {type(loaded).__name__}")
    unknown = [str(key) for key in parts if key not in PARTS_OF_DATA]
    if unknown:
        raise _misfit(code, f"{', '.join(unknown)} is none of {', '.join(PARTS_OF_DATA)}")
    return parts


def _misfit(code: RunCode, what: str) -> Exception:
    return code.problem(
        "user_code_data_misfit",
        f"What load() of {code.named} returns cannot be used: {what}.",
        _CONTRACT,
    )


class _Python(Source[PythonData]):
    """See :func:`read_python_data`."""

    @override
    def read(self, data: PythonData, reading: Reading) -> DataSet:
        if reading.code is None:
            raise ProblemError(_NOT_CARRIED_OUT)
        return read_python_data(data, reading.code, reading.seed, must_differ=reading.must_differ)

    @override
    def read_all(self, data: PythonData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        del needs_labels  # there are always some
        found = self.read(data, replace(reading, must_differ=False))
        who = "an evaluation or a prediction takes"
        if found.inputs:
            raise ProblemError(inputs_refused(data, found.inputs, who))
        if found.arrays_of is not None:
            raise ProblemError(arrays_refused(data, found.label_shape, who))
        return all_examples(found)


SOURCE = _Python()
