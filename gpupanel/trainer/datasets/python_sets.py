"""What ``load`` of the person's own code gave, checked set by set."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import MOST_CLASSES, PythonData, Scaling, Target
from gpupanel.domain.example_form import inputs_text
from gpupanel.domain.source_settings import MOST_INPUTS, MOST_OUTPUTS
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.array_labels import checked_arrays
from gpupanel.trainer.datasets.checks import (
    ArrayName,
    check_exact,
    check_lengths,
    checked_features,
)
from gpupanel.trainer.datasets.examples import (
    Array,
    DataSet,
    Examples,
    Features,
    PackedInput,
    PackedOutput,
)
from gpupanel.trainer.datasets.labels import Labels, checked_labels
from gpupanel.trainer.datasets.packed_inputs import input_misfit, packed
from gpupanel.trainer.datasets.packed_outputs import output_misfit, packed_labels
from gpupanel.trainer.datasets.python_rows import python_rows
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.parts.loaded_parts import are_arrays, gives_rows, rows_given
from gpupanel.trainer.user_code import RunCode, exits_reported

_CONTRACT = (
    'load() gives {"x": examples, "y": labels}, if need be with "x_test", "y_test" and '
    '"class_names"; or (x, y); or ((x, y), (x_test, y_test)). Where the examples themselves are to '
    'be predicted, "y" is left out, and data.predicts is "values". Several inputs are a dictionary '
    'of arrays in "x", several outputs one in "y", and "predicts" says what each of these predicts.'
)


@dataclass(frozen=True, slots=True)
class _ReadSet:
    """Training or test examples, checked.

    Attributes:
        class_names: Of the classes or labels; of several outputs they are there.
        inputs: None where there is one.
        outputs: Likewise.
    """

    examples: Examples
    labels: Labels
    class_names: tuple[str, ...]
    inputs: tuple[PackedInput, ...]
    outputs: tuple[PackedOutput, ...]


@dataclass(frozen=True, slots=True)
class LoadedSets:
    """What ``load`` gave, by the names of its parts.

    Attributes:
        settings: Say what the labels are.
        code: The file that has ``load``.
        parts: See ``PythonData``.
        must_differ: Refuse training labels that are all of one class.
    """

    settings: PythonData
    code: RunCode
    parts: Mapping[str, object]
    must_differ: bool

    def data_set(self) -> DataSet:
        """All of it, checked.

        Raises:
            ProblemError: It cannot be used.
            Exception: Whatever the person's code raises.
        """
        training = self._set("x", "y")
        test = None
        if "x_test" in self.parts or "y_test" in self.parts:
            test = self._set("x_test", "y_test", training)
            self._check_inputs(training.inputs, test.inputs)
            self._check_outputs(training.outputs, test.outputs)
            self._check_shapes(training.examples, test.examples)
        labels, inputs = training.labels, training.inputs
        is_pixels = training.examples.features.dtype == np.uint8 and not inputs
        return DataSet(
            training=training.examples,
            test=None if test is None else test.examples,
            class_names=training.class_names,
            arrays_of=labels.target if labels.are_arrays else None,
            learns_inputs=self._learns_inputs,
            inputs=inputs,
            outputs=training.outputs,
            scaling=Scaling.DIVIDE if is_pixels else Scaling.NONE,
            greatest=255.0 if is_pixels else 1.0,
        )

    @property
    def _learns_inputs(self) -> bool:
        """Whether there are no labels, and what is predicted are the examples themselves."""
        has_labels = "y" in self.parts or "y_test" in self.parts
        is_one = not isinstance(self.parts.get("x"), Mapping)
        return self.settings.predicts is Target.VALUES and is_one and not has_labels

    def _set(self, x: str, y: str, training: "_ReadSet | None" = None) -> "_ReadSet":
        """Examples with their labels.

        Args:
            x: The part that has the examples.
            y: That with the labels.
            training: The training set, whose classes those of a test set are.
        """
        features, inputs = self._features(x)
        differ = self.must_differ and training is None
        names: tuple[str, ...] = ()
        outputs: tuple[PackedOutput, ...] = ()
        given = self.parts.get(y)
        if self._learns_inputs:
            none = np.zeros(features.shape[0], np.int32)
            labels = Labels(none, Target.VALUES, outputs=0, are_arrays=True)
        elif isinstance(given, Mapping):
            labels, outputs = self._outputs(given, y, training, must_differ=differ)
        elif "predicts" in self.parts:
            raise self._misfit('"predicts" is of several outputs; of one data.predicts says it')
        else:
            names = self._names_in(self.parts.get("class_names"), self.settings.predicts)
            names = names or (() if training is None else training.class_names)
            labels = self._labels(y, self.settings.predicts, len(names) or None, must_differ=differ)
            names = names or tuple(str(number) for number in range(labels.outputs))
        check_lengths(features, labels.array, self._name(x), self._name(y))
        examples = Examples(features, labels.array)
        return _ReadSet(examples, labels, names, inputs, outputs)

    def _outputs(
        self,
        given: Mapping[object, object],
        y: str,
        training: "_ReadSet | None",
        *,
        must_differ: bool,
    ) -> tuple[Labels, tuple[PackedOutput, ...]]:
        """Labels of several outputs, packed, and where those of each stand."""
        if not 1 <= len(given) <= MOST_OUTPUTS:
            raise self._misfit(f'"{y}" has {len(given):,} outputs, not 1 to {MOST_OUTPUTS}')
        known = {} if training is None else {one.name: one for one in training.outputs}
        if training is not None and known.keys() != given.keys():
            one, other = (", ".join(map(str, names)) or "none" for names in (known, given))
            raise self._misfit(f'the outputs are {one} in "y", and {other} in "{y}"')
        predicts, named = self._by_output("predicts", given), self._by_output("class_names", given)
        parts, class_names = dict[str, Labels](), dict[str, tuple[str, ...]]()
        for name in known or given:
            why = output_misfit(name if isinstance(name, str) else "")
            if not isinstance(name, str) or why:
                raise self._misfit(f'"{y}" has an output called {name!r}, which {why}')
            target = self._target(predicts.get(name))
            names = self._names_in(named.get(name), target)
            if name in known:
                names = known[name].class_names
            array = self._as_array(given[name], f"{y}.{name}")
            parts[name] = self._checked(
                array, f"{y}.{name}", target, len(names) or None, must_differ=must_differ
            )
            class_names[name] = names
        counts = {name: part.array.shape[:1] for name, part in parts.items()}
        if len(set(counts.values())) > 1:
            shown = inputs_text(counts)
            raise self._misfit(f'the outputs of "{y}" have different lengths: {shown}')
        return packed_labels(parts, class_names)

    def _by_output(self, part: str, outputs: Mapping[object, object]) -> Mapping[object, object]:
        """A part of what ``load`` gave that says something of each output."""
        given = self.parts.get(part)
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise self._misfit(f'"{part}" is no dictionary, and "y" has several outputs')
        unknown = [str(name) for name in given if name not in outputs]
        if unknown:
            raise self._misfit(f'"{part}" is of {", ".join(unknown)}, which "y" does not have')
        return given

    def _target(self, said: object) -> Target:
        if said is None:
            return self.settings.predicts
        found = next((each for each in Target if each.value == said), None)
        if found is None:
            kinds = ", ".join(f'"{each.value}"' for each in Target)
            raise self._misfit(f'"predicts" says {said!r}, which is none of {kinds}')
        return found

    def _features(self, x: str) -> tuple[Features, tuple[PackedInput, ...]]:
        """Examples, and which inputs they are made of; none where they are one."""
        given = self.parts.get(x)
        if not isinstance(given, Mapping):
            return self._input(given, x), ()
        for name in given:
            why = input_misfit(name if isinstance(name, str) else "")
            if why:
                raise self._misfit(f'"{x}" has an input called {name!r}, which {why}')
        if not 1 <= len(given) <= MOST_INPUTS:
            raise self._misfit(f'"{x}" has {len(given):,} inputs, not 1 to {MOST_INPUTS}')
        inputs = {name: self._input(part, f"{x}.{name}") for name, part in given.items()}
        counts = {name: part.shape[:1] for name, part in inputs.items()}
        if len(set(counts.values())) > 1:
            shown = inputs_text(counts)
            raise self._misfit(f'the inputs of "{x}" have different lengths: {shown}')
        return packed(inputs)

    def _input(self, given: object, name: str) -> Features:
        of = self._name(name)
        rows = python_rows(given, self.code, of, self.settings.cache)
        if rows is not None:
            return rows
        array = self._as_array(given, name)
        features = checked_features(array, of)
        if isinstance(self.parts[name.partition(".")[0]], Mapping):
            check_exact(features, array.dtype, of)
        return features

    def _labels(
        self, name: str, target: Target, class_count: int | None, *, must_differ: bool
    ) -> Labels:
        array = self._array(name)
        return self._checked(array, name, target, class_count, must_differ=must_differ)

    def _checked(
        self,
        raw: Array,
        name: str,
        target: Target,
        class_count: int | None,
        *,
        must_differ: bool,
    ) -> Labels:
        checked = (
            checked_arrays
            if are_arrays(raw, of_classes=target is Target.CLASSES)
            else checked_labels
        )
        return checked(raw, self._name(name), target, class_count, must_differ=must_differ)

    def _array(self, name: str) -> Array:
        return self._as_array(self.parts.get(name), name)

    def _as_array(self, given: object, name: str) -> Array:
        if given is None:
            raise self._misfit(f'there is no "{name}"')
        if gives_rows(given):
            given = rows_given(given, exits_reported(self.code, given.__getitem__))
        try:
            return np.asarray(given)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            # Objects of the person's own raise what they like when they are made an array.
            raise self._misfit(f'"{name}" is not an array: {error}') from error

    def _names_in(self, given: object, target: Target) -> tuple[str, ...]:
        """Names of classes, where they are given."""
        if given is None or target is Target.VALUES:
            return ()
        if not isinstance(given, list | tuple) or not given:
            raise self._misfit('"class_names" is not a list of names')
        if len(given) > MOST_CLASSES:
            raise self._misfit(f'"class_names" has more than {MOST_CLASSES:,} names')
        return tuple(as_utf8(str(name)) for name in given)

    def _check_inputs(
        self, training: tuple[PackedInput, ...], test: tuple[PackedInput, ...]
    ) -> None:
        if training != test:
            one, other = (
                inputs_text({each.name: each.shape for each in inputs}) or "one input"
                for inputs in (training, test)
            )
            raise self._misfit(f'one example has {one} in "x", and {other} in "x_test"')

    def _check_outputs(
        self, training: tuple[PackedOutput, ...], test: tuple[PackedOutput, ...]
    ) -> None:
        if training != test:
            one, other = (
                inputs_text({each.name: each.shape for each in outputs}) or "one label"
                for outputs in (training, test)
            )
            raise self._misfit(f'one example has {one} in "y", and {other} in "y_test"')

    def _check_shapes(self, training: Examples, test: Examples) -> None:
        for what, name, one, other in (
            ("example", "x", training.feature_shape, test.feature_shape),
            ("row of labels", "y", training.labels.shape[1:], test.labels.shape[1:]),
        ):
            if one != other:
                raise self._misfit(
                    f'one {what} has the shape {one} in "{name}" and {other} in "{name}_test"',
                )

    def _misfit(self, what: str) -> Exception:
        return load_misfit(self.code, what)

    def _name(self, part: str) -> ArrayName:
        return ArrayName(source=f"load() of {self.code.named}", name=part, field=self.code.key)


def load_misfit(code: RunCode, what: str) -> Exception:
    """What is said of what ``load`` gave.

    Args:
        code: Its file.
        what: Is wrong, as the end of a sentence.
    """
    return code.problem(
        "user_code_data_misfit",
        f"What load() of {code.named} returns cannot be used: {what}.",
        _CONTRACT,
    )
