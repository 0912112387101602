"""Data sets that tensorflow-datasets prepared: where they are, and what they say of themselves.

None of their Python is carried out: ``features.json`` names classes, which are not imported.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpupanel.domain.data import NO_SPLIT, TfdsData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.regular_files import open_regular

_NAME = re.compile(
    r"(?P<name>[a-z]\w*)(/(?P<config>\w[\w.+-]*))?(:(?P<version>\d+\.\d+\.\d+))?", re.ASCII
)
_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)
_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"
_LARGEST_BYTES = 16 * 2**20
"""Of a file that describes a set: the greatest of the catalogue have some hundred KiB."""
_MOST_ENTRIES = 10_000


class Described(BaseModel):
    """What a file says; it may say more."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PreparedSplit(Described):
    """A split, whose files are called by a template; how many examples each of them holds."""

    name: str
    template: str = Field(default=_TEMPLATE, alias="filepathTemplate")
    shards: tuple[int, ...] = Field(default=(), alias="shardLengths")


class _Key(Described):
    name: str = Field(default="", alias="featureKey")


class _Keys(Described):
    items: tuple[_Key, ...] = ()


class _Supervised(Described):
    keys: _Keys = Field(default=_Keys(), alias="tuple")


class SetInfo(Described):
    """The content of ``dataset_info.json``."""

    name: str
    file_format: str = Field(default="tfrecord", alias="fileFormat")
    splits: tuple[PreparedSplit, ...] = ()
    supervised: _Supervised = Field(default=_Supervised(), alias="supervisedKeys")


class _Shape(Described):
    dimensions: tuple[int, ...] = ()


class _Numbers(Described):
    shape: _Shape = _Shape()
    dtype: str = ""
    encoding: str = "none"


class _Classes(Described):
    count: int = Field(default=0, alias="numClasses")


class PreparedFeature(Described):
    """One feature; ``None`` stands for what it is not."""

    image: _Numbers | None = None
    tensor: _Numbers | None = None
    classes: _Classes | None = Field(default=None, alias="classLabel")
    kind: str = Field(default="", alias="pythonClassName")

    @property
    def is_usable(self) -> bool:
        """Whether it is an image, a class, or numbers of one shape."""
        if self.tensor is None:
            return self.image is not None or self.classes is not None
        is_plain = self.tensor.encoding == "none" and self.tensor.dtype != "string"
        return is_plain and min(self.tensor.shape.dimensions, default=1) > 0

    @property
    def form(self) -> str:
        """What the feature is, in words."""
        for said in (self.image, self.tensor):
            if said is not None:
                shape = " x ".join("?" if n < 0 else str(n) for n in said.shape.dimensions)
                return f"{'image' if said is self.image else said.dtype} {shape}".rstrip()
        return "class" if self.classes is not None else self.kind.rpartition(".")[2] or "unknown"


class _Dict(Described):
    features: Mapping[str, PreparedFeature] = {}


class _Features(Described):
    """The content of ``features.json``."""

    top: _Dict = Field(default=_Dict(), alias="featuresDict")


@dataclass(frozen=True, slots=True)
class PreparedSet:
    """A set that is on this machine.

    Attributes:
        folder: Of its version.
        info: What it says of itself.
        features: What its examples hold.
    """

    folder: Path
    info: SetInfo
    features: Mapping[str, PreparedFeature]

    @property
    def splits(self) -> dict[str, PreparedSplit]:
        """The splits that hold examples, by name."""
        return {each.name: each for each in self.info.splits if sum(each.shards)}

    def chosen(self, data: TfdsData) -> tuple[str | None, str | None]:
        """The features of examples and labels; ``None``: nobody says."""
        keys = [each.name or None for each in self.info.supervised.keys.items]
        of_itself = keys if len(keys) == 2 else [None, None]
        return data.features or of_itself[0], data.labels or of_itself[1]

    def chosen_splits(self, data: TfdsData) -> dict[str, str]:
        """The splits by the setting of records that names their files."""
        found = {"path": data.training_split}
        others = (
            ("validation_path", data.validation_split, "validation"),
            ("test_path", data.test_split, "test"),
        )
        for key, split, usual in others:
            is_usual = usual in self.splits and usual not in found.values()
            name = (usual if is_usual else NO_SPLIT) if split is None else split
            if name != NO_SPLIT:
                found[key] = name
        return found


def data_folder(data: TfdsData) -> Path:
    """The folder that the data sets are kept in, as the package has it."""
    chosen = data.path or os.environ.get("TFDS_DATA_DIR") or "~/tensorflow_datasets"
    return Path(os.path.expanduser(chosen))  # noqa: PTH111 - a "~" of nobody stays


def name_parts(data: TfdsData) -> dict[str, str | None]:
    """Name, config and version.

    Raises:
        ProblemError: It is no name of the catalogue.
    """
    if not data.name:
        raise problem_with(
            "data_path_missing", "No data set is named.", "Write the name of one, such as mnist."
        )
    found = _NAME.fullmatch(data.name)
    if found is None:
        raise problem_with(
            "tfds_name_unknown",
            f'"{visible_line(data.name[:80])}" is not a name of the catalogue of '
            "tensorflow-datasets: names of other places and arguments, which may run their code, "
            "are not taken.",
            "Write a name as mnist, with a config as cifar10_corrupted/blur_1, or with a version "
            "as mnist:3.0.1.",
        )
    return found.groupdict()


def find_prepared(data: TfdsData) -> Path | None:
    """The folder of the prepared set; ``None``: it is not here.

    Raises:
        ProblemError: The name is none, or it is not clear which config is meant.
    """
    parts = name_parts(data)
    root = data_folder(data) / str(parts["name"])
    base = root / parts["config"] if parts["config"] else root
    versions = _versions(base)
    if not versions and not parts["config"]:
        configs = [name for name in _folders(root) if _versions(root / name)]
        first = _default_config(root)
        if first not in configs:
            if len(configs) > 1:
                named = ", ".join(map(visible_line, sorted(configs)[:10]))
                raise problem_with(
                    "tfds_config_ambiguous",
                    f"{root} holds several configs of {data.described}: {named}.",
                    f"Name one of them: {parts['name']}/{visible_line(min(configs))}.",
                )
            first = configs[0] if configs else ""
        base = root / first
        versions = _versions(base) if first else []
    wanted = parts["version"]
    there = [each for each in versions if wanted in (None, each)]
    return base / max(there, key=_as_numbers) if there else None


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _versions(folder: Path) -> list[str]:
    return [
        name
        for name in _folders(folder)
        if _VERSION.fullmatch(name) and (folder / name / "dataset_info.json").is_file()
    ]


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise problem_with(
            "data_file_unreadable",
            f"The folder {folder} cannot be read: {error.strerror}.",
            "Check its permissions, or choose another data folder.",
        ) from error
    return [name for name in found if not name.startswith(".")]


class _Metadata(Described):
    """The content of ``.config/metadata.json``: the default config."""

    first: str = Field(default="", alias="defaultConfigName")


def _default_config(root: Path) -> str:
    place = root / ".config" / "metadata.json"
    try:
        return _Metadata.model_validate_json(content_of(place)).first
    except (ProblemError, ValidationError):
        return ""  # an older version wrote none


def read_prepared(folder: Path) -> PreparedSet:
    """What a prepared set is like.

    Raises:
        ProblemError: It does not say so, or is kept in another format.
    """
    try:
        info = SetInfo.model_validate_json(content_of(folder / "dataset_info.json"))
        features = _Features.model_validate_json(content_of(folder / "features.json"))
    except ValidationError as error:
        raise damaged_set(folder, str(error)) from error
    if info.file_format not in ("tfrecord", ""):
        raise problem_with(
            "tfds_file_format",
            f"The data set in {folder} is kept as {visible_line(info.file_format)}, and only "
            "TFRecord files are read.",
            "Prepare it in another data folder; what is prepared here is TFRecord.",
        )
    return PreparedSet(folder, info, features.top.features)


def content_of(path: Path) -> bytes:
    """What is in a file that describes a set.

    Raises:
        ProblemError: It cannot be read, or is too large.
    """
    try:
        with open_regular(path) as file:
            content = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise damaged_set(path.parent, f"{path.name}: {error.strerror}") from error
    if len(content) > _LARGEST_BYTES:
        raise damaged_set(path.parent, f"{path.name} has more than {_LARGEST_BYTES:,} bytes")
    return content


def damaged_set(folder: Path, detail: str) -> ProblemError:
    """The problem of a folder that holds something else."""
    return problem_with(
        "data_file_damaged",
        f"The folder {folder} does not hold a data set as tensorflow-datasets prepares it.",
        "Remove it, to have it prepared again; or choose another data folder.",
        detail=detail,
    )


def problem_with(
    code: str, message: str, hint: str, field: str = "data.name", detail: str = ""
) -> ProblemError:
    """A problem with a data set."""
    return ProblemError(Problem(code=code, field=field, message=message, hint=hint, detail=detail))
