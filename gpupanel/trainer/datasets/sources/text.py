"""Texts: numbers of their words, with the vocabulary of those that are trained on."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError
from typing_extensions import override

from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.domain.choice import Choice
from gpupanel.domain.data import Target, TextData
from gpupanel.domain.preview import TextsPreview
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.checks import stays_on_disk
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    Array,
    DataSet,
    Examples,
    Features,
    Indices,
    chained,
)
from gpupanel.trainer.datasets.scanning.examples import scan_examples
from gpupanel.trainer.datasets.scanning.scanned import Digests, OnFirstReport, Scanned
from gpupanel.trainer.datasets.single_data import AskedModel, SingleData
from gpupanel.trainer.datasets.source import Found, Reading, Source, no_download
from gpupanel.trainer.datasets.split import divide
from gpupanel.trainer.datasets.tables.empty_cells import known_words, word_problems
from gpupanel.trainer.datasets.tables.targets import TargetLabels
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.datasets.texts.rows import TextRows, counted, numbers_in
from gpupanel.trainer.datasets.texts.single_text import table_of_text
from gpupanel.trainer.datasets.texts.table_texts import chosen_columns, overview_of_texts
from gpupanel.trainer.datasets.texts.text_sets import TextSet, files_of, read_sets
from gpupanel.trainer.datasets.texts.words import FIRST_WORD, SPECIAL_WORDS, most_frequent

_BARS = 24
Numbers = npt.NDArray[np.int64]


def _recipe(reading: Reading) -> TextRecipe:
    """What the model's file says.

    Raises:
        ProblemError: It says nothing of texts.
    """
    try:
        return TextRecipe.model_validate_json(reading.recipe)
    except ValidationError as error:
        raise data_problem(
            "text_recipe_missing",
            "The saved model has no record of its vocabulary, so it cannot take texts.",
            "Use a model that was trained on texts here.",
            field="model.path",
            detail=str(error) if reading.recipe else "",
        ) from error


def _with_words_of(data: TextData, recipe: TextRecipe | None) -> TextData:
    """The settings, with the empty words of the model where none were chosen."""
    if recipe is None or data.empty_words is not None:
        return data
    words = known_words(recipe.empty_words, recipe.class_names, ())
    return data.model_copy(update={"empty_words": words})


def _features(data: TextData, rows: TextRows) -> Features:
    stays = stays_on_disk(rows.shape, rows.dtype, data.cache)
    return rows if stays else rows.in_memory()


def _trained_on(data: TextData, seed: int, labels: TargetLabels) -> Indices:
    """Which of the examples are trained on: the vocabulary must not know the others."""
    classes = labels.array if labels.predicts is Target.CLASSES else None
    return divide(len(labels.array), data, seed, classes)[0]


def _preview(data: TextData, lengths: Numbers, counts: Numbers, known: Numbers) -> TextsPreview:
    """What is drawn of texts: bars of the same width, the last one for all that are longer."""
    most = int(np.quantile(lengths, 0.99)) if len(lengths) else 1
    width = max(1, -(-max(most, 1) // _BARS))
    bars = np.minimum(np.maximum(lengths - 1, 0) // width, _BARS - 1)
    numbers = np.bincount(bars, minlength=1)
    total = int(counts.sum())
    return TextsPreview(
        lengths=tuple((int((bar + 1) * width), int(count)) for bar, count in enumerate(numbers)),
        cut_share=float((lengths > data.length).mean()),
        known_share=float(known.sum()) / total if total else 0.0,
        word_count=int(np.count_nonzero(counts[1:])),
        known_count=len(known),
    )


def _digests_of_words(part: Examples, indices: Indices, features: Array) -> Digests:
    del features
    assert isinstance(part.features, TextRows), "a scan holds no texts in memory"
    return part.features.digests(indices)


def _check_differ(path: Path, labels: TargetLabels) -> None:
    if len(labels.class_names) == 1 and labels.array.ndim == 1:
        raise data_problem(
            "data_one_class",
            f'The texts of {path} are all of one class ("{labels.class_names[0]}"), so there is '
            "nothing to distinguish.",
            "Use texts of two classes or more.",
        )


def _of_classes(recipe: TextRecipe, training: TextSet, reading: Reading) -> TextRecipe:
    """The recipe with the classes that the texts are found to be of, where that may be more."""
    if not reading.more_classes:
        return recipe
    names = training.classes_with_more(training.labelled(), recipe)
    return recipe.model_copy(update={"class_names": names})


class _Texts(Source[TextData]):
    """Texts in the order of their folders, or rows."""

    @override
    def read(self, data: TextData, reading: Reading) -> DataSet:
        known = _recipe(reading) if reading.recipe else None
        # What is predicted; without it the data decides.
        predicted = None if reading.own_targets else known
        chosen = data.empty_words if known is None else known.empty_words
        data = _with_words_of(data, predicted)
        sets = read_sets(
            data,
            reading,
            data.targets or (predicted.targets if predicted else ()),
            known_text=known.text if known else "",
            known_kinds=predicted.kinds if predicted else None,
            needs_targets=True,
        )
        training = sets["training"]
        rows = training.labelled()
        if predicted is None:
            labels = training.labels(rows, data.predicts)
        else:
            predicted = _of_classes(predicted, training, reading)
            labels = TargetLabels(
                training.labels_as(rows, predicted), predicted.predicts, predicted.class_names
            )
        if reading.must_differ:
            _check_differ(training.path, labels)
        trained = rows[_trained_on(data, reading.seed, labels)]
        tokens = training.tokens
        counts = counted(tokens, trained)
        if known is None:
            places = most_frequent(tokens.words, counts[1:], data.vocabulary - FIRST_WORD)
            words, length = tokens.words[places], data.length
        else:
            words, length = np.array([word.encode() for word in known.words], "S"), known.length
            places = np.flatnonzero(np.isin(tokens.words, words))
        examples = {
            name: self._examples(data, each, words, length, rows, labels)
            for name, each in sets.items()
        }
        shown = tuple(word.decode(errors="replace") for word in words.tolist())
        recipe = TextRecipe(
            words=shown,
            length=length,
            text=training.text,
            targets=tuple(each.name for each in training.facts),
            predicts=labels.predicts,
            class_names=labels.class_names,
            empty_words=chosen,
        )
        return DataSet(
            training=examples["training"],
            validation=examples.get("validation"),
            test=examples.get("test"),
            class_names=labels.class_names,
            scaling=data.scaling,
            files=files_of(sets),
            notes=(
                *(note for each in sets.values() for note in each.notes),
                *word_problems(training.facts, recipe.targets, data.empty_words),
            ),
            recipe=recipe.model_dump_json(),
            token_count=data.token_count,
            words=(*SPECIAL_WORDS, *shown),
            texts=_preview(data, tokens.lengths[rows], counts, counts[places + 1]),
        )

    @override
    def read_all(self, data: TextData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        recipe = _recipe(reading)
        data = _with_words_of(data, recipe)
        targets = data.targets or recipe.targets
        sets = read_sets(
            data,
            reading,
            targets,
            known_text=recipe.text,
            known_kinds=recipe.kinds,
            needs_targets=needs_labels,
        )
        words = np.array([word.encode() for word in recipe.words], "S")
        has_labels = all(each.has_targets for each in sets.values())
        if not needs_labels and any(np.isnan(each.targets).any() for each in sets.values()):
            has_labels = False  # some are to be predicted
        try:
            of_sets = sets.values() if has_labels else ()
            if has_labels:
                recipe = _of_classes(recipe, sets["training"], reading)
            known = [each.labels_as(each.labelled(), recipe) for each in of_sets]
        except ProblemError:
            if needs_labels:
                raise
            has_labels, known = False, []  # predicting needs none, of whatever classes they are
        parts = []
        for place, each in enumerate(sets.values()):
            rows = each.labelled() if has_labels else np.arange(len(each.tokens), dtype=np.int32)
            labels = known[place] if has_labels else np.zeros(len(rows), np.int32)
            made = numbers_in(each.tokens, words)
            features = _features(data, TextRows(each.tokens, made, recipe.length, rows))
            parts.append(Examples(features, labels))
        whole = chained(parts)
        return AllExamples(
            features=whole.features,
            labels=whole.labels if has_labels else None,
            target=recipe.predicts,
            class_names=recipe.class_names,
            training_count=len(parts[0]),
            validation_count=len(parts[1]) if "validation" in sets else 0,
            words=(*SPECIAL_WORDS, *recipe.words),
            notes=tuple(note for each in sets.values() for note in each.notes),
        )

    @override
    def single(
        self, data: TextData, asked: PredictionAsked, model: AskedModel, folder: Path
    ) -> SingleData:
        known = _recipe(Reading(no_download, recipe=model.recipe))
        return SingleData(table_of_text(data, asked, known, folder))

    @override
    def value_names(self, data: TextData, recipe: str) -> tuple[str, ...]:
        return _recipe(Reading(no_download, recipe=recipe)).targets

    @override
    def find(self, data: TextData, reading: Reading) -> Found:
        if not data.is_table:
            return Found()
        overview = overview_of_texts(data, data.path, "data.path")
        columns = tuple(
            Choice(name, f"{visible_line(name)}: {kind}") for name, kind in overview.columns
        )
        found: dict[str, str | tuple[str, ...]] = {}
        if overview.form is not None:
            found |= overview.form.settings
        try:
            known = _recipe(reading) if reading.recipe else None
            predicted = None if reading.own_targets else known
            taken = chosen_columns(
                overview,
                data.text,
                data.targets or (predicted.targets if predicted else ()),
                known_text=known.text if known else "",
                needs_targets=False,
            )
        except ProblemError:
            pass  # reading says it
        else:
            found |= {"text": taken.text, "target": taken.targets}
        return Found(offers=dict.fromkeys(("text", "target"), columns), found=found)

    @override
    def scan(self, data: TextData, reading: Reading, on_first_report: OnFirstReport) -> Scanned:
        # The number of a word says nothing by itself, and words that the vocabulary has not share
        # one.
        found = self.read(data, reading)
        return scan_examples(
            found,
            reading.on_progress,
            on_first_report,
            digests_of=_digests_of_words,
            has_columns=False,
        )

    @staticmethod
    def _examples(
        data: TextData,
        each: TextSet,
        words: npt.NDArray[np.bytes_],
        length: int,
        rows: Indices,
        labels: TargetLabels,
    ) -> Examples:
        made = numbers_in(each.tokens, words)
        array = labels.array
        if each.name != "training":
            rows = each.labelled()
            array = each.labels_as(rows, labels)
        return Examples(_features(data, TextRows(each.tokens, made, length, rows)), array)


SOURCE = _Texts()
