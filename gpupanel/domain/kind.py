"""The kinds that a table of a profile can be of, each declared at the ``source`` of its values."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, get_args, get_origin

from pydantic import Field

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import WORDS, SettingType, settings_of
from gpupanel.domain.value import Value

SOURCE: Final = "source"
"""The key that says of which kind a table is."""


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
        return self.choice.label.partition(":")[0].rstrip("…")

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
