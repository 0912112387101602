"""Which examples are evaluated or predicted, in the order in which the source has them."""

from dataclasses import dataclass, replace

import numpy as np

from gpupanel.domain.data import Target
from gpupanel.domain.inference import ExamplesChosen
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.checked_form import check_plain
from gpupanel.trainer.datasets.example_columns import ExampleColumns
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    Array,
    DataSet,
    Features,
    Indices,
    PackedInput,
    read_features,
)
from gpupanel.trainer.datasets.source import Reading, all_examples, source_of
from gpupanel.trainer.datasets.split import divide
from gpupanel.trainer.inference.array_labels import check_labels, own_metrics_notes
from gpupanel.trainer.inference.ground_notes import notes_of_ground
from gpupanel.trainer.inference.known_classes import match_classes
from gpupanel.trainer.inference.learned_examples import (
    LEARNED_FROM_UNKNOWN,
    LearnedExamples,
    learned_examples,
    notes_of_learned,
)
from gpupanel.trainer.models.array_classes import with_known_classes
from gpupanel.trainer.models.model_classes import (
    KnownClasses,
    as_trained,
    check_infers,
    known_classes,
)
from gpupanel.trainer.models.model_file import (
    check_model_file,
    recipe_in,
    saved_model_path,
    trained_on_in,
)
from gpupanel.trainer.parts.class_names import UNKNOWN, by_places, used_classes
from gpupanel.trainer.started_run import StartedRun

_NO_CLASSES = Problem(
    code="stratify_without_labels",
    field="data.stratify",
    message="Which examples were held out cannot be known: they were drawn class by class, and "
    "the examples have no labels here.",
    hint='Set inference.examples to "all".',
)


@dataclass(frozen=True, slots=True, eq=False)
class ChosenExamples:
    """Some of all examples of a source.

    Attributes:
        which: Of them.
        indices: Where they are among them, ascending; without those that cannot be read.
        learned: What the model knows of them; ``None``: it is other data than it learned from.
        is_part_found: The profile left open which.
        is_said: The model's file says what it learned from, or nobody has to know that.
    """

    which: ExamplesChosen
    indices: Indices
    learned: LearnedExamples | None = None
    is_part_found: bool = False
    is_said: bool = True

    @property
    def learned_count(self) -> int | None:
        """How many of them the model learned from; ``None``: not known."""
        return None if self.learned is None else self.learned.count_in(self.indices)

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What is said of an evaluation of these."""
        if not self.is_said and self.which == "all":
            return (LEARNED_FROM_UNKNOWN,)
        return notes_of_learned(self.learned, self.indices, is_part_found=self.is_part_found)


@dataclass(frozen=True, slots=True, eq=False)
class InferenceExamples:
    """The chosen examples; a row is a position among them.

    Attributes:
        features: Of every example of the source, or where they are read from.
        labels: Of the chosen ones, as :class:`~gpupanel.trainer.datasets.examples.Examples` has
            them; ``None`` where they are not known.
        indices: Position of each chosen example in the source, its validation and test sets after
            the training examples, ascending.
        target: What the labels are, or would be.
        class_names: As far as the source knows them.
        class_count_is_known: Whether there are exactly as many classes as names; otherwise the
            greatest label made them and there may be more.
        notes: What is odd about them.
        which: Of all that there are.
        learned: How many of them the model learned from; ``None``: not known.
        learned_is_estimate: That is so by a sample of what it learned from.
        file_names: Of the chosen ones, as
            :class:`~gpupanel.trainer.datasets.examples.AllExamples` has them.
        columns: Of the source, where its examples are rows of a table.
        inputs: Of what the features of an example are the numbers, as
            :class:`~gpupanel.trainer.datasets.examples.DataSet` has them; none: they are one.
        gives_row: The model gives a row of classes, labels or values for each, and not arrays.
        arrays: What was read, where it gives arrays; ``None``: it does not, or labels were not
            needed.
    """

    features: Features
    labels: Array | None
    indices: Indices
    target: Target
    class_names: tuple[str, ...]
    class_count_is_known: bool
    notes: tuple[Problem, ...] = ()
    which: ExamplesChosen = "all"
    learned: int | None = None
    learned_is_estimate: bool = False
    file_names: tuple[str, ...] = ()
    columns: ExampleColumns | None = None
    inputs: tuple[PackedInput, ...] = ()
    gives_row: bool = True
    arrays: DataSet | None = None

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def feature_shape(self) -> tuple[int, ...]:
        """Shape of one example."""
        return tuple(self.features.shape[1:])

    @property
    def features_are_bytes(self) -> bool:
        """Whether they are ``uint8``; else ``float32``."""
        return bool(self.features.dtype == np.uint8)

    def read(self, first: int, end: int) -> Array:
        """The features of these rows.

        Raises:
            ProblemError: One of them cannot be read.
        """
        return read_features(self.features, self.indices[first:end])


def read_to_infer(run: StartedRun, reading: Reading) -> InferenceExamples:
    """The examples of a run, once its model's file was found usable.

    Raises:
        ProblemError: The model or the data cannot be used, and why.
    """
    profile = run.profile
    check_model_file(saved_model_path(profile.model), any_ends=profile.data.may_have_inputs)
    return read_inference_examples(profile, reading)


def read_inference_examples(profile: Profile, reading: Reading) -> InferenceExamples:
    """The examples that the profile chooses.

    Args:
        profile: Its task decides whether labels must be there.
        reading: What reading may need.

    Raises:
        ProblemError: The data cannot be used, and why.
    """
    model = profile.model
    trained = trained_on_in(model.chosen_path) if model.is_saved else None
    gives_row = trained is None or trained.outputs == "row"
    if model.is_saved:
        more = profile.task == "evaluate"
        reading = replace(reading, recipe=recipe_in(model.chosen_path), more_classes=more)
        check_infers(model, profile.task, profile.data, profile.inference)
    if model.is_saved and gives_row:
        data_settings = as_trained(profile.data, known_classes(model))
        profile = profile.model_copy(update={"data": data_settings})
    everything = read_all_of(profile, reading)
    data = everything.whole
    if model.is_saved:
        check_labels(profile, data, trained)
    elif data is not None:
        check_plain(profile.data, data.form)
    notes: tuple[Problem, ...] = ()
    evaluates = profile.task == "evaluate"
    if evaluates and data is not None and trained is not None and trained.outputs == "arrays":
        data, notes = with_known_classes(data, trained, model)
        everything = all_examples(data)
    if evaluates and trained is not None:
        notes = (*notes, *own_metrics_notes(trained, model))
    chosen, found = choose_examples(profile, everything, gives_row=gives_row)
    indices = chosen.indices
    return InferenceExamples(
        features=found.features,
        labels=None if found.labels is None else found.labels[indices],
        indices=indices,
        target=found.target,
        class_names=found.class_names,
        class_count_is_known=found.class_count_is_known,
        notes=(
            *found.notes,
            *notes,
            *chosen.notes,
            *notes_of_ground(trained, found.features, indices),
        ),
        which=chosen.which,
        learned=chosen.learned_count,
        learned_is_estimate=chosen.learned is not None and chosen.learned.is_estimate,
        file_names=tuple(found.file_names[index] for index in indices) if found.file_names else (),
        columns=found.columns,
        inputs=found.inputs,
        gives_row=gives_row,
        arrays=None if gives_row else data,
    )


def _of_known_classes(profile: Profile, found: AllExamples, known: KnownClasses) -> AllExamples:
    """The examples with the classes of the model, found by name.

    Raises:
        ProblemError: They are of other classes.
    """
    labels, names = found.labels, found.class_names
    used = np.arange(len(names))
    if labels is None and known.names:
        used = used[:0]
    elif labels is not None and known.names and found.target is Target.CLASSES:
        used = used_classes(labels, names, known.names)
    of_use = tuple(names[place] for place in used)
    match = match_classes(known, profile.task, profile.inference, found.target, of_use)
    if match.places is None:
        labels = None
    elif labels is not None and known.names and match.target is not Target.VALUES:
        places = np.full(len(names), UNKNOWN, np.int32)
        places[used] = match.places
        labels = by_places(labels, match.target, places, len(known.names))
    return replace(
        found,
        labels=labels,
        target=match.target,
        class_names=match.names,
        # Of classes that the model names there are no others.
        class_count_is_known=bool(known.names)
        or (found.class_count_is_known and bool(match.names)),
        notes=(*found.notes, *match.notes),
    )


def _of_classes(chosen: Indices, found: AllExamples) -> Indices:
    """The indices without examples of classes that the model does not know."""
    if found.labels is None or found.target is not Target.CLASSES:
        return chosen
    return np.asarray(chosen[found.labels[chosen] != UNKNOWN], np.int32)


def read_all_of(profile: Profile, reading: Reading) -> AllExamples:
    """All examples of the profile's data, in the order that their indices mean.

    Args:
        profile: Its task decides whether labels must be there.
        reading: What reading may need.

    Raises:
        ProblemError: The data cannot be used, and why.
    """
    data, reading = profile.data, replace(reading, must_differ=False)
    return source_of(data).read_all(data, reading, needs_labels=_needs_labels(profile))


def _needs_labels(profile: Profile) -> bool:
    """Whether only examples with labels count: always those that were held out of such."""
    is_part = profile.inference.takes_part
    return profile.task == "evaluate" or (is_part and profile.data.leaves_out_unlabelled)


def _readable(chosen: Indices, found: AllExamples) -> Indices:
    left_out = np.fromiter(found.unreadable, np.int32, len(found.unreadable))
    return chosen[~np.isin(chosen, left_out)]


def choose_examples(
    profile: Profile, found: AllExamples, *, gives_row: bool = True
) -> tuple[ChosenExamples, AllExamples]:
    """The examples that the profile chooses, or that are chosen where it leaves that open.

    Args:
        profile: The file of its model says what that learned from, and its classes.
        found: All examples of the data.
        gives_row: The model gives a row of classes, labels or values, and not arrays.

    Returns:
        The chosen ones, and all of them with the classes of the model.

    Raises:
        ProblemError: None are of that part, which they are cannot be known, or they are of other
            classes.
    """
    # Labels that are arrays divide no examples: these are of no class.
    chosen = _chosen(profile, found if gives_row else replace(found, labels=None))
    if profile.model.is_saved and gives_row:
        found = _of_known_classes(profile, found, known_classes(profile.model))
        chosen = replace(chosen, indices=_of_classes(chosen.indices, found))
    return chosen, found


def _chosen(profile: Profile, found: AllExamples) -> ChosenExamples:
    which, learned, is_said = profile.inference.examples, None, True
    if profile.task == "evaluate" and profile.model.is_saved:
        trained = trained_on_in(profile.model.chosen_path)
        learned = learned_examples(trained, profile.data, found)
        is_said = trained is not None and trained.says_data
    if which != "automatic":
        indices = _readable(_part(profile, found, which), found)
        return ChosenExamples(which, indices, learned, is_said=is_said)
    if learned is None or not len(learned.held_out):
        everything = np.arange(len(found), dtype=np.int32)
        return ChosenExamples("all", _readable(everything, found), learned, is_said=is_said)
    indices = _readable(learned.held_out, found)
    return ChosenExamples("validation", indices, learned, is_part_found=True)


def _part(profile: Profile, found: AllExamples, which: ExamplesChosen) -> Indices:
    everything, training = np.arange(len(found), dtype=np.int32), found.training_count
    data = profile.data
    if which == "all":
        return everything
    kept, held_back = everything[:training], everything[training:]
    has_test_alone = len(held_back) > 0 and not data.held_out_fraction
    if found.validation_count:
        held_back = held_back[: found.validation_count]
    elif has_test_alone:
        pass  # nothing validated: what the training was measured on at its end
    elif not data.may_validate_on_test_set:
        labels = found.labels if found.target is Target.CLASSES else None
        if labels is None and data.stratify and found.target is Target.CLASSES:
            raise ProblemError(_NO_CLASSES)
        classes = None if labels is None else labels[:training]
        kept, held_back = divide(training, data, profile.training.seed, classes, found.groups)
    chosen = kept if which == "training" else held_back
    if len(chosen) == 0:
        raise ProblemError(
            Problem(
                code="inference_no_validation_examples",
                field="inference.examples",
                message="There are no validation examples: the data has no test set of its own, "
                "and no fraction is held out.",
                hint='Set inference.examples to "all", or set data.validation_fraction as it was '
                "in training.",
            )
        )
    return chosen
