"""What is needed to get the same again: examples, seed, versions and fingerprints."""

from gpupanel import __version__
from gpupanel.domain.number_text import count
from gpupanel.runs.report.markup import Html, element, section, table, terms
from gpupanel.runs.report.material import ReportMaterial

_NOT_RECORDED = "not recorded by the run"
_MOST_AXES = 8


def data_section(material: ReportMaterial) -> Html:
    """How many examples there were, and what they were like."""
    data = material.events.data
    if data is None:
        return Html()
    sets = (
        ("Training examples", data.training_examples),
        ("Validation examples", data.validation_examples),
        ("Test examples", data.test_examples),
    )
    pairs = [(title, count(examples)) for title, examples in sets if examples]
    shape = " x ".join(f"{size:,}" for size in data.feature_shape[:_MOST_AXES])
    pairs.append(("Shape of an example", shape or "a single number"))
    if data.class_count:
        pairs.append(("Classes", count(data.class_count)))
    if data.steps_per_epoch:
        pairs.append(("Steps an epoch", count(data.steps_per_epoch)))
    parameters = material.events.parameters
    if parameters is not None:
        all_of = parameters.trainable_parameters == parameters.parameters
        which = "all" if all_of else count(parameters.trainable_parameters)
        trained = f"{which} of them trained"
        pairs.append(("Parameters of the model", f"{count(parameters.parameters)}, {trained}"))
    tuning = material.events.fine_tuning
    if tuning is not None:
        pairs.append((f"From epoch {count(tuning.epoch)} on", tuning.words))
    return section("Data and model", terms(pairs))


def origin_section(material: ReportMaterial) -> Html:
    """Seed, versions and fingerprints."""
    devices, profile = material.events.devices, material.profile
    versions = dict.fromkeys(("TensorFlow", "Python", "gpupanel"), "")
    if devices is not None:
        known = (devices.tensorflow_version, devices.python_version, devices.gpupanel_version)
        versions = dict(zip(versions, known, strict=True))
    pairs = [(name, version or _NOT_RECORDED) for name, version in versions.items()]
    if profile is not None and profile.task == "train":
        pairs.insert(0, ("Seed", str(profile.training.seed)))
    pairs.append(("This report", f"written by gpupanel {__version__}"))
    prints = [
        (
            each.name,
            each.note,
            element("code", each.digest, class_="digest") if each.digest else each.problem,
        )
        for each in material.fingerprints
    ]
    heads = ("Fingerprint of", "", "SHA-256")
    return section("Reproducibility", terms(pairs), element("div", table(heads, prints, texts=3)))
