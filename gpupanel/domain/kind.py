"""The kinds that a table of a profile can be of, each declared at the ``source`` of its values."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Final, get_args, get_origin

from pydantic import Field

from gpupanel.domain.choice import Choice
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.setting import WORDS, Setting, SettingType, setting_of, settings_of
from gpupanel.domain.value import Value

SOURCE: Final = "source"
"""The key that says of which kind a table is."""


class KindValue(Value):
    """What a value of each kind of data or model says about itself."""

    module: ClassVar[str]
    """The file that carries it out, and that of the same name that writes its part of a script."""
    is_code: ClassVar[bool] = False
    """Whether it is Python code of the person's own."""

    @property
    def downloads(self) -> tuple[KerasFile, ...]:
        """The files that are downloaded once; all of them are needed."""
        return ()

    @property
    def path_setting(self) -> Setting | None:
        """The setting that says where it is; ``None``: it has none."""
        paths = (each for each in settings_of(type(self)) if each.type is SettingType.PATH)
        return next((each for each in paths if not each.choices), None)

    @property
    def chosen_paths(self) -> Mapping[str, str]:
        """Each path that was chosen, by its key."""
        return {
            each.name: path
            for each in settings_of(type(self))
            if each.type is SettingType.PATH
            for path in [getattr(self, each.name)]
            if path and path not in {choice.value for choice in each.choices}
        }

    def path_before(self, key: str) -> str:
        """The chosen path that a relative one of that key is meant from; else empty."""
        kind = setting_of(type(self), key).path
        path: str = getattr(self, kind.within) if kind is not None and kind.within else ""
        return path

    @property
    def chosen_path(self) -> str:
        """Where it is; empty where that was not chosen, or is not for a person to choose."""
        path: str = getattr(self, self.path_setting.name) if self.path_setting else ""
        return path

    @property
    def lacks_path(self) -> bool:
        """Whether a path has to be chosen first."""
        return self.path_setting is not None and not self.chosen_path


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind.

    Attributes:
        choice: The value of ``source``, with the words that people read.
        values: The type of its values; several kinds may share one.
    """

    choice: Choice
    values: type[Value]

    @property
    def source(self) -> str:
        """What ``source`` says."""
        return self.choice.value

    @property
    def name(self) -> str:
        """The label without what explains it: "CNN" of "CNN: convolutions"."""
        return self.choice.name.rstrip("…")

    def new(self, **settings: object) -> Any:  # noqa: ANN401 - of the kind's type
        """A value of this kind with the defaults; a text that has none is empty.

        Args:
            settings: Those that are to have another value.
        """
        empty = {
            each.name: ""
            for each in settings_of(self.values)
            if each.is_required and each.type in (SettingType.TEXT, SettingType.PATH)
        }
        return self.values.model_validate({SOURCE: self.source, **empty, **settings})


def kind(*choices: Choice) -> Any:  # noqa: ANN401 - as pydantic's
    """Declare the ``source`` of a value.

    Args:
        choices: One for each kind that has these values. A single one is the default, too.
    """
    return Field(
        choices[0].value if len(choices) == 1 else ...,
        json_schema_extra={WORDS: {"choices": [asdict(choice) for choice in choices]}},
    )


def kinds_of(union: object) -> tuple[Kind, ...]:
    """The kinds of a table, in the order in which they are declared.

    Args:
        union: Of the types of its values, such as ``DataSettings``.
    """
    inner = get_args(union)[0] if get_origin(union) is Annotated else union
    return tuple(each for values in get_args(inner) for each in _kinds(values))


def _kinds(values: type[Value]) -> Iterator[Kind]:
    extra: Any = values.model_fields[SOURCE].json_schema_extra
    for choice in extra[WORDS]["choices"]:
        yield Kind(Choice(**choice), values)
