"""Which layers, functions and other objects a saved model names, and whether they need code."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpupanel.trainer.models.model_file_problems import problem

_CODE_LAYERS = frozenset({"Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"})
"""Layers of Keras's own that carry code or a program of somebody else's."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A layer, function or other object that the file's configuration names."""

    module: str | None
    class_name: str
    name: str
    is_registered: bool

    @property
    def runs_code(self) -> bool:
        return self.class_name in _CODE_LAYERS or self.class_name == "__lambda__"

    @property
    def is_keras_own(self) -> bool:
        if self.module is None:
            return not self.is_registered or self.class_name.startswith("__")
        if self.module == "builtins":
            return self.class_name != "function"
        return self.module.partition(".")[0] == "keras"


def check_parts(path: Path, config: object) -> None:
    """Refuse a model that would need code to be run.

    Args:
        path: Of its file.
        config: What the file says of the model.

    Raises:
        ProblemError: It holds code, or needs somebody else's.
    """
    parts = list(_parts(config))
    unsafe = [part.name for part in parts if part.runs_code]
    if unsafe:
        raise problem(
            "model_runs_code",
            f"{path} holds code in its layers ({_listed(unsafe)}), and code from a file is not "
            "run here: it could do anything.",
            "Save the model without Lambda and wrapper layers, for example with layers of Keras's "
            "own in their place.",
        )
    foreign = [part.name for part in parts if not part.is_keras_own]
    if foreign:
        raise problem(
            "model_needs_code",
            f"{path} needs classes or functions that are not Keras's own ({_listed(foreign)}), "
            "and their code is not in the file.",
            "Save the model with layers of Keras's own only.",
        )


def _listed(names: list[str]) -> str:
    # What stands inside a layer ("__lambda__") says less than the layer.
    several = list(dict.fromkeys(name for name in names if not name.startswith("__"))) or names
    return ", ".join(several[:3]) + (", ..." if len(several) > 3 else "")


def _parts(config: object) -> Iterator[_Part]:
    """Every object that the configuration names, however deep."""
    waiting = [config]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            waiting.extend(one.values())
            if isinstance(one.get("class_name"), str):
                yield _part(one)


def _part(one: dict[str, object]) -> _Part:
    module, inside = one.get("module"), one.get("config")
    own_name = inside.get("name") if isinstance(inside, dict) else inside
    class_name = str(one["class_name"])
    return _Part(
        module=module if isinstance(module, str) else None,
        class_name=class_name,
        name=f"{class_name} {own_name}" if isinstance(own_name, str) else class_name,
        is_registered=isinstance(one.get("registered_name"), str),
    )
