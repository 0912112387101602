"""Every template that comes with gpupanel, from its name to a model that has learned."""

from pathlib import Path

import pytest

from gpupanel.runs.directory.templates import templates
from tests.forked.terminal import answered, gpupanel

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

LEARNED = {
    "two-inputs": ("val_accuracy", 0.85, 1.0),
    "autoencoder": ("val_loss", 0.0, 0.05),  # the waves have a variance of a half
    "masks": ("val_overlap", 0.5, 1.0),
    "several-tasks": ("val_radius_error", 0.0, 0.7),  # of radii from 3 to 10
}
"""A metric of each, and the least and the greatest that it may be: no guess comes near."""


@pytest.mark.parametrize("template", templates(), ids=lambda template: template.name)
def test_that_a_template_trains_as_it_is(template, tmp_path: Path) -> None:
    copied = answered(gpupanel("template", template.name, tmp_path / "mine", "--json"))
    ran = answered(gpupanel("run", copied["profile"], "--trust", "--json"))

    assert ran["outcome"] == "completed"
    assert not [each for each in ran["findings"] if each["severity"] != "hint"]
    name, least, greatest = LEARNED[template.name]
    assert least <= ran["metrics"][name] <= greatest
