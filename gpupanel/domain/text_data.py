"""Texts of a person's own: what is asked about them."""

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import DataSource, Scaling, Target
from gpupanel.domain.empty_words import EmptyWord, empty_words_setting
from gpupanel.domain.kind import kind
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.source_settings import names_in, one_or_several, set_path_setting
from gpupanel.domain.table_data import (
    TABLE_SUFFIXES,
    ColumnName,
    ColumnNames,
    DecimalMark,
    Delimiter,
    Encoding,
    HeaderLine,
    Quoting,
    SkippedLines,
    decimal_setting,
    delimiter_setting,
    encoding_setting,
    header_setting,
    quoting_setting,
    skip_lines_setting,
)

MOST_VOCABULARY = 1_000_000
"""Words: beyond so many none is counted."""
_TEXTS = PathKind(TABLE_SUFFIXES, "Tables", "Choose the texts", may_be_folder=True)


class TextData(DataSource):
    """Texts: a folder of ``.txt`` files for each class, or a column of a table.

    A text is made of words as Keras's ``TextVectorization`` makes them: the letters A to Z become
    small, punctuation is left out, and spaces divide. Each word is the number of its place in the
    vocabulary: the words that are most frequent in the texts that are trained on, never in those
    that are held out. 0 fills up short texts, 1 stands for every other word; a text without words
    is one such word. The vocabulary is saved with the model, so that predictions and evaluations
    use the same. Of a text the first MiB counts.

    The built-in network of dense layers turns each word into 64 numbers that are learned, and
    takes their mean over the words of a text. A network of your own is given the numbers of the
    words, as ``float32``.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["text"] = kind(
        Choice(
            "text",
            "Texts (folders, .csv)…",
            "Texts to be sorted into classes, or from which values are predicted: a folder of .txt "
            "files for each class, or a column of a table.",
        ),
    )
    path: str = setting(
        "Folder or table",
        "A folder with one sub-folder of .txt files for each class, whose names are the classes'; "
        "one with only .txt files, to predict on; or a .csv, .tsv or .parquet file.",
        path=_TEXTS,
    )
    text: ColumnName | None = setting(
        "Text column",
        "The column of a table that holds the texts. Detected where it is called text, review or "
        "comment, or where it is the only one that holds texts.",
        default=None,
        off="automatic",
        is_offered=True,
    )
    target: Annotated[ColumnName | ColumnNames | None, BeforeValidator(one_or_several)] = setting(
        "Target",
        "The column of a table that is predicted, or a list of several. Detected: a column called "
        "target, label, class or y, else the last one.",
        default=None,
        off="automatic",
        is_offered=True,
    )
    vocabulary: Annotated[int, Field(ge=10, le=MOST_VOCABULARY)] = setting(
        "Vocabulary",
        "How many words are distinguished: the most frequent ones; all others are the same "
        "unknown word. A larger vocabulary needs more memory and more texts.",
        default=20_000,
        unit="word",
    )
    length: Annotated[int, Field(ge=1, le=16_384)] = setting(
        "Length",
        "How many words of each text are used: the first ones. Shorter texts are padded, longer "
        "ones are cut.",
        default=200,
        unit="word",
    )
    predicts: Target | None = setting(
        "Predicted",
        "What the target is. Detected: folders and texts are classes, and so are whole numbers "
        "from 0 or 1 without gaps up to 20; several columns of 0 and 1 are labels; other numbers "
        "are values.",
        default=None,
        off="automatic",
    )
    validation_path: str = set_path_setting(
        "Validation texts",
        "Another folder with the same classes, or a table with the same columns, whose texts "
        "validate; none of the others are held out then.",
        _TEXTS,
    )
    test_path: str = set_path_setting(
        "Test texts",
        "Another folder with the same classes, or a table with the same columns, on whose texts "
        "the trained model is measured once, at the end.",
        _TEXTS,
    )
    empty_words: tuple[EmptyWord, ...] | None = empty_words_setting()
    delimiter: Delimiter | None = delimiter_setting()
    decimal: DecimalMark | None = decimal_setting()
    encoding: Encoding | None = encoding_setting()
    header: HeaderLine | None = header_setting()
    quoting: Quoting | None = quoting_setting()
    skip_lines: SkippedLines | None = skip_lines_setting()

    module: ClassVar[str] = "text"
    may_lack_labels: ClassVar[bool] = True
    may_predict_several: ClassVar[bool] = True
    leaves_out_unlabelled: ClassVar[bool] = True
    makes_features: ClassVar[bool] = True
    asked_as: ClassVar[AskedKind] = AskedKind.TEXT
    path_noun: ClassVar[str] = "folder or table of texts"

    @property
    def targets(self) -> ColumnNames:
        """The columns that were chosen to be predicted."""
        return names_in(self.target)

    @property
    @override
    def is_in_class_order(self) -> bool:
        return not self.is_table

    @property
    def is_table(self) -> bool:
        """Whether the path is that of a table, by how it ends."""
        return self.path.lower().endswith(TABLE_SUFFIXES)

    @property
    @override
    def example_axes(self) -> int:
        return 1

    @property
    @override
    def chosen_shape(self) -> tuple[int, ...]:
        return (self.length,)

    @property
    @override
    def token_count(self) -> int:
        return self.vocabulary

    @property
    @override
    def scaling(self) -> Scaling:
        return Scaling.NONE
