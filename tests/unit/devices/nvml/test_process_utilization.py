"""How much each process uses a GPU, as NVML's module reports what NVML may answer."""

import pynvml
import pytest

from gpupanel.devices.nvml import many_calls


def _answers(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def function(*_: object) -> int:
        return code

    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer", lambda _: function)


@pytest.mark.parametrize("code", [pynvml.NVML_SUCCESS, pynvml.NVML_ERROR_NOT_FOUND])
def test_that_no_sample_means_that_nobody_used_it(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    _answers(monkeypatch, code)
    assert many_calls.process_utilization(None) == {}


def test_that_every_other_error_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    _answers(monkeypatch, pynvml.NVML_ERROR_NO_PERMISSION)
    with pytest.raises(pynvml.NVMLError_NoPermission):
        many_calls.process_utilization(None)
