"""The preview of what a profile names: the question to the preview process, and its answer."""

from typing import Annotated

from pydantic import Field

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile, Task
from gpupanel.domain.value import Value


class PreviewRequest(Value):
    """What to preview.

    Attributes:
        data: A path in it is absolute, or meant from the working directory.
        model: The file that holds the model or its code, likewise; ``None``: there is none.
        task: What is done with it: some data can be predicted on, but not be trained on.
        seed: Draws the examples that are shown, and the validation split.
        example_limit: How many are shown at most.
    """

    data: DataSettings
    model: ModelSettings | None = None
    task: Task = "train"
    seed: int = 0
    example_limit: Annotated[int, Field(ge=0)] = 12


def preview_request(profile: Profile, example_limit: int = 0) -> PreviewRequest:
    """What to preview before that profile starts."""
    model = profile.model if profile.model.path_setting is not None else None
    return PreviewRequest(
        data=profile.data,
        model=model,
        task=profile.task,
        seed=profile.training.seed,
        example_limit=example_limit,
    )


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
        validation_example_count: Of a validation set of its own.
        test_example_count: Of a test set of its own.
        class_counts: Name of each class with its number of training examples, in class order;
            empty where values are predicted.
        needs_download: The data is not on this machine yet; the start of a run downloads it.
        needs_start: Only a run shows what the data is like: it comes from Python code, which
            nothing but the start of a run carries out.
        problems: Why it cannot be used, or what is odd about it.
        model_problems: Why the file that holds the model or its code cannot be used.
    """

    example_count: int = 0
    validation_example_count: int = 0
    test_example_count: int = 0
    feature_shape: tuple[int, ...] = ()
    target: Target = Target.CLASSES
    class_counts: tuple[tuple[str, int], ...] = ()
    examples: tuple[ExamplePreview, ...] = ()
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()
    model_problems: tuple[Problem, ...] = ()
