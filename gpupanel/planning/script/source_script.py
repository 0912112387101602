"""What the file of a source gives to a script: its ``SCRIPT``."""

import importlib
from abc import abstractmethod
from typing import Protocol, TypeVar

from gpupanel.domain.data import DataSettings
from gpupanel.domain.data_source import DataSource

Settings = TypeVar("Settings", bound=DataSource, contravariant=True)


class SourceScript(Protocol[Settings]):
    """Python that reads one kind of data, as its file in ``trainer/datasets`` does."""

    @abstractmethod
    def read(self, data: Settings, *, needs_labels: bool) -> str:
        """From nothing to the whole source.

        That is features ``x`` and labels ``y``, ``x_test`` and ``y_test`` of one that may bring a
        test set, and ``class_count`` where classes are predicted.

        Args:
            data: Which; a path in it is absolute.
            needs_labels: Without it ``y`` may become ``None``.
        """
        ...

    def class_names(self, data: Settings) -> str:
        """From what was read to ``class_names``; asked for where classes are predicted."""
        del data
        return "class_names = [str(number) for number in range(class_count)]"

    def pixels(self, data: Settings, *names: str, in_memory: bool) -> str:
        """From what was read to what gives the features, where that is not the same.

        Args:
            data: Which.
            names: Of the variables.
            in_memory: Read them now, and not whenever they are needed.
        """
        del data, names, in_memory
        return ""


def script_of(data: DataSettings) -> SourceScript[DataSettings]:
    """What reads that data in a script: the ``SCRIPT`` in the file that its ``module`` names."""
    module = importlib.import_module(f"gpupanel.planning.script.sources.{data.module}")
    script: SourceScript[DataSettings] = module.SCRIPT
    return script
