"""A look at data before a run: what the preview process answers."""

from gpupanel.domain.data import Target
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value


class ExamplePreview(Value):
    """One example, small enough to be shown.

    Attributes:
        label: The name of its class, or its value as text.
        pixels_base64: 8-bit pixels, rows first, base64; empty when it is no picture.
        width: Pixels a row; 0 when it is no picture.
        height: Rows; 0 when it is no picture.
        channels: 1 (greyscale) or 3 (RGB); 0 when it is no picture.
        text: The first values, for an example that is no picture.
    """

    label: str
    pixels_base64: str = ""
    width: int = 0
    height: int = 0
    channels: int = 0
    text: str = ""


class DataPreview(Value):
    """Some examples and what the whole data set is like.

    Attributes:
        class_counts: Name of each class with its number of training examples, in class order;
            empty where values are predicted.
        needs_download: The data is not on this machine yet; the start of a run downloads it.
        needs_start: Only a run tells what the data is like: it comes from Python code, which
            nothing but the start of a run carries out.
        problems: Why it cannot be used, or what is odd about it.
    """

    example_count: int = 0
    test_example_count: int = 0
    feature_shape: tuple[int, ...] = ()
    target: Target = Target.CLASSES
    class_counts: tuple[tuple[str, int], ...] = ()
    examples: tuple[ExamplePreview, ...] = ()
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()
