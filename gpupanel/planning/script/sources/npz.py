"""Arrays in a NumPy file."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import NpzData, Target
from gpupanel.planning.script.data_section import ARRAYS_OF, SourceScript
from gpupanel.planning.script.sections import joined

_NPZ = """
with np.load($path, allow_pickle=False) as arrays:
    x, y = features(arrays[$features]), $labels
class_count = $class_count
"""


class _Npz(SourceScript[NpzData]):
    """Python that reads two of them."""

    @override
    def read(self, data: NpzData, *, needs_labels: bool) -> str:
        read = f"labels(arrays[{data.labels!r}])"
        counted = "int(y.max()) + 1"
        if not needs_labels:
            read += f" if {data.labels!r} in arrays else None"
            counted = f"0 if y is None else {counted}"
        arrays = Template(_NPZ).substitute(
            path=repr(data.path),
            features=repr(data.features),
            labels=read,
            class_count=data.class_count or counted,
        )
        return joined(ARRAYS_OF[Target.CLASSES], arrays)


SCRIPT = _Npz()
