"""What a test of a device has come to."""

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from gpupanel.domain.self_test import CaseResult, SelfTestCase

BYTES_PER_MIB: Final = 2**20
MOST_DETAIL: Final = 2_000

Numbers = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """What came of a case; as :class:`~gpupanel.domain.self_test.CaseOutcome`."""

    result: CaseResult
    figure: float | None = None
    detail: str = ""


class CaseTest(Protocol):
    """Carries out cases of one kind."""

    def __call__(self, case: SelfTestCase) -> CaseFinding:
        """Test that; what it raises is a finding, too."""
        ...


def same(got: Numbers, wanted: Numbers, who: str) -> CaseFinding | None:
    """Whether all numbers are exactly those that are right; ``None``: they are.

    Args:
        got: What a device has.
        wanted: What is right; finite.
        who: Had them ("CPU:1"), for the detail.
    """
    if np.array_equal(got, wanted):
        return None
    if got.shape != wanted.shape:
        return CaseFinding(
            CaseResult.WRONG, detail=f"{who} has {got.size:,} of {wanted.size:,} numbers."
        )
    wrong = np.flatnonzero(got != wanted)
    strange = np.flatnonzero(~np.isfinite(got))
    if strange.size:
        detail = f"{who} has {strange.size:,} of {got.size:,} values that are not finite numbers."
        return CaseFinding(CaseResult.NOT_A_NUMBER, detail=detail)
    first = int(wrong[0])
    detail = (
        f"{who} has {float(got.flat[first]):.9g} where {float(wanted.flat[first]):.9g} is right, "
        f"at {first:,}; {wrong.size:,} of {got.size:,} numbers differ."
    )
    return CaseFinding(CaseResult.WRONG, detail=detail)
