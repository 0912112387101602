"""The bundled digits, from scikit-learn itself."""

from typing_extensions import override

from gpupanel.domain.data import DigitsData
from gpupanel.planning.script.data_section import SourceScript

_DIGITS = """
from sklearn.datasets import load_digits

x, y = load_digits(return_X_y=True)
x, y = x.reshape(-1, 8, 8).astype(np.uint8), y.astype(np.int32)
class_count = 10
"""


class _Digits(SourceScript[DigitsData]):
    """Python that loads them."""

    @override
    def read(self, data: DigitsData, *, needs_labels: bool) -> str:
        return _DIGITS


SCRIPT = _Digits()
