"""What the tasks ``evaluate`` and ``predict`` do with a saved model."""

from typing import Literal

from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.setting import setting
from gpupanel.domain.value import PositiveInt, Value

ExamplesChosen = Literal["all", "training", "validation"]
"""Which examples of data are evaluated or predicted, where that is not left open."""


class InferenceSettings(Value):
    """The ``[inference]`` table of a profile; results are in the source's own order."""

    examples: Literal["automatic", "all", "training", "validation"] = setting(
        "Examples",
        "Which examples are used. Quality should be measured on examples that were not trained on.",
        default="automatic",
        choices=(
            Choice(
                "automatic",
                "Automatic",
                "Every example; where a model is evaluated on the data that it learned from, only "
                "those that its training held out.",
            ),
            Choice("all", "All", "Every example of the data, whether the model knows it or not."),
            Choice(
                "validation",
                "Validation examples",
                "The examples that training with these settings of the data and this seed "
                "validates on; the test set where it validates on none.",
            ),
            Choice(
                "training",
                "Training examples",
                "The examples that training with this seed trains on.",
            ),
        ),
    )
    batch_size: PositiveInt = setting(
        "Batch size",
        "Examples of one call, over all devices. It affects speed and memory only, not the result.",
        default=256,
        advanced=True,
        unit="example",
    )
    unknown_classes: Literal["refuse", "leave_out"] = setting(
        "Unknown classes",
        "How an evaluation treats examples of classes that the model was not trained on. "
        "Predicting needs no labels.",
        default="refuse",
        advanced=True,
        choices=(
            Choice("refuse", "Refuse", "The data is refused, and such a class named."),
            Choice(
                "leave_out",
                "Leave them out",
                "Only examples of the classes that the model knows are evaluated.",
            ),
        ),
    )
    output: Literal["automatic", "npz", "csv"] = setting(
        "Output",
        "The format of the file with the predictions, which are in the order of the data.",
        default="automatic",
        choices=(
            Choice(
                "automatic",
                "Automatic",
                "A table with the name of each file for images in files, else arrays.",
            ),
            Choice("npz", "NumPy (.npz)", "Arrays: exact, small, read with numpy.load."),
            Choice("csv", "Table (.csv)", "A line for each example, for spreadsheets."),
        ),
    )

    @property
    def takes_part(self) -> bool:
        """Whether a part of the data was chosen."""
        return self.examples in ("training", "validation")

    def output_of(self, data: DataSource) -> Literal["npz", "csv"]:
        """The format of predictions on that data."""
        if self.output == "automatic":
            return "csv" if data.is_decoded else "npz"
        return self.output
