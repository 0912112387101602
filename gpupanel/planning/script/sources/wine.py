"""The bundled wines, from scikit-learn itself."""

from typing_extensions import override

from gpupanel.domain.data import WineData
from gpupanel.planning.script.data_section import SourceScript

_WINE = """
from sklearn.datasets import load_wine

wines = load_wine()
x, y = wines.data.astype(np.float32), wines.target.astype(np.int32)
class_count = len(wines.target_names)
"""


class _Wine(SourceScript[WineData]):
    """Python that loads them."""

    @override
    def read(self, data: WineData, *, needs_labels: bool) -> str:
        return _WINE

    @override
    def class_names(self, data: WineData) -> str:
        return "class_names = [str(name) for name in wines.target_names]"


SCRIPT = _Wine()
