"""The data that comes with gpupanel: what is asked about it."""

from typing import ClassVar, Literal

from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import DataSource, ImageSource, Scaling
from gpupanel.domain.decoded_images import LIGHT_ON_DARK, PictureForm
from gpupanel.domain.kind import kind


class DigitsData(ImageSource):
    """The bundled digits: scikit-learn's 1,797 handwritten digits of 8x8 pixels."""

    source: Literal["digits"] = kind(
        Choice(
            "digits",
            "Digits: handwritten, 8x8",
            "1,797 handwritten digits that come with gpupanel; nothing is downloaded.",
        ),
    )

    module: ClassVar[str] = "digits"
    greatest: ClassVar[int] = 16
    asked_as: ClassVar[AskedKind] = AskedKind.ARRAY

    @property
    @override
    def picture(self) -> PictureForm:
        return PictureForm(
            size=(8, 8), color="grayscale", greatest=self.greatest, edges=LIGHT_ON_DARK
        )

    @property
    @override
    def described(self) -> str:
        return "the bundled digits"

    @property
    @override
    def example_axes(self) -> int:
        return 2

    @property
    @override
    def scaling(self) -> Scaling:
        return Scaling.DIVIDE


class WineData(DataSource):
    """The bundled wines: 13 measurements of each of 178, and which of three cultivars it is."""

    source: Literal["wine"] = kind(
        Choice(
            "wine",
            "Wine: 13 measurements, 3 cultivars",
            "178 wines of three cultivars with 13 chemical measurements, which come with "
            "gpupanel; nothing is downloaded.",
        ),
    )

    module: ClassVar[str] = "wine"
    asked_as: ClassVar[AskedKind] = AskedKind.ARRAY

    @property
    @override
    def described(self) -> str:
        return "the bundled wines"

    @property
    @override
    def example_axes(self) -> int:
        return 1

    @property
    @override
    def scaling(self) -> Scaling:
        return Scaling.STANDARDISE
