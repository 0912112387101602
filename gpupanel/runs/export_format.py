"""What a run can be exported as."""

from enum import Enum


class ExportFormat(Enum):
    """What is written; its value is what the terminal calls it."""

    REPORT = "report"
    NOTEBOOK = "notebook"
    SCRIPT = "script"

    @property
    def suffix(self) -> str:
        """How the name of such a file ends."""
        return {"report": ".html", "notebook": ".ipynb", "script": ".py"}[self.value]

    @property
    def title(self) -> str:
        """What people call it."""
        return {"report": "Report", "notebook": "Notebook", "script": "Python script"}[self.value]

    @property
    def description(self) -> str:
        """What it is good for."""
        return {
            "report": "One HTML file with curves, settings, devices and problems, to keep and send",
            "notebook": "The run as a Jupyter notebook of TensorFlow code, without gpupanel",
            "script": "The run as a Python script of TensorFlow code, without gpupanel",
        }[self.value]
