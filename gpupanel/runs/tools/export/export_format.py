"""What a run can be exported as."""

from enum import Enum

from gpupanel.domain.model_export import ModelFormat, Quantization


class ExportFormat(Enum):
    """What is written; its value is what the terminal calls it."""

    REPORT = "report"
    NOTEBOOK = "notebook"
    SCRIPT = "script"
    SLURM = "slurm"

    @property
    def suffix(self) -> str:
        """How the name of such a file ends."""
        suffixes = {"report": ".html", "notebook": ".ipynb", "script": ".py", "slurm": ".sbatch"}
        return suffixes[self.value]

    @property
    def title(self) -> str:
        """What people call it."""
        return {
            "report": "Report",
            "notebook": "Notebook",
            "script": "Python script",
            "slurm": "Slurm batch script",
        }[self.value]

    @property
    def description(self) -> str:
        """What it is good for."""
        return {
            "report": "One HTML file with curves, settings, devices and problems, to keep and send",
            "notebook": "The run as a Jupyter notebook of TensorFlow code, without gpupanel",
            "script": "The run as a Python script of TensorFlow code, without gpupanel",
            "slurm": "Starts the run's profile again as a job of a Slurm cluster that has "
            "gpupanel, and continues it after the time limit",
        }[self.value]


class ModelExportFormat(Enum):
    """What the model of a run is written as; its value names the entry of a menu."""

    KERAS = "keras"
    SAVEDMODEL = "savedmodel"
    TFLITE = "tflite"
    TFLITE_FLOAT16 = "tflite_float16"
    TFLITE_INT8 = "tflite_int8"

    @property
    def model_format(self) -> ModelFormat:
        """The form, however its numbers are held."""
        return ModelFormat(self.value.partition("_")[0])

    @property
    def quantization(self) -> Quantization | None:
        """How the numbers are held; ``None``: as they are."""
        held = self.value.partition("_")[2]
        return Quantization(held) if held else None

    @property
    def suffix(self) -> str:
        """How the name of such a file ends; empty: it is a folder."""
        return {"keras": ".keras", "savedmodel": "", "tflite": ".tflite"}[self.model_format.value]

    @property
    def title(self) -> str:
        """What people call it."""
        return {
            "keras": "Keras model",
            "savedmodel": "SavedModel",
            "tflite": "TFLite, float32",
            "tflite_float16": "TFLite, float16",
            "tflite_int8": "TFLite, int8",
        }[self.value]

    @property
    def description(self) -> str:
        """What it is good for."""
        return {
            "keras": "A copy of the model as one .keras file, for Python with Keras",
            "savedmodel": "The model as a folder, for TensorFlow, TensorFlow Serving and Java",
            "tflite": "The model as one file for LiteRT, on phones and embedded devices",
            "tflite_float16": "The same in half the size, with nearly the same outputs",
            "tflite_int8": "The same in a quarter of the size, faster on most processors; its "
            "outputs differ a little. Some examples of the run's data show the ranges of numbers.",
        }[self.value]
