"""The script's classes: those of a saved model, found by name, and those that a model keeps."""

from string import Template

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.sections import joined, lines_for

_KNOWN = """
import json
import unicodedata
import zipfile

with zipfile.ZipFile($path) as archive:
    there = "$member" in archive.namelist()
    trained_on = json.loads(archive.read("$member")) if there else {}
known_names = $names or trained_on.get("class_names", [])


def places_of(names, used=None):
    \"\"\"The number of each class among those of the model; -1 where it is none of them.\"\"\"
    numbers = [str(number) for number in range(len(names))]
    if list(names) == numbers and not {*(used or names)} <= {*known_names}:
        return np.where(np.arange(len(names)) < len(known_names), np.arange(len(names)), -1)
    composed = [unicodedata.normalize("NFC", name) for name in known_names]
    if len(set(composed)) == len(composed):
        names = [unicodedata.normalize("NFC", name) for name in names]
    else:
        composed = known_names  # some differ in that alone
    place = {name: number for number, name in enumerate(composed)}
    return np.array([place.get(name, -1) for name in names], np.int32)
"""

# In the margin: K several labels at once, E evaluation, L examples of unknown classes are left out.
_OF_MODEL = """
  |
  |
  |if known_names:
  |    if y is not None:
k |        used = np.unique(y)
K |        used = np.arange(len(class_names))
  |        places = places_of(class_names, [class_names[number] for number in used])
  |        unknown = [class_names[number] for number in used if places[number] < 0]
El|        if unknown:
El|            raise SystemExit(f"The model was not trained on these classes: {unknown}")
k |        y = places[y].astype(np.int32)
kE|        indices = indices[y[indices] >= 0]
K |        ordered = np.zeros((len(y), len(known_names)), np.float32)
K |        ordered[:, places[places >= 0]] = y[:, places >= 0]
KE|        if not set(range(len(known_names))) <= set(places.tolist()):
KE|            raise SystemExit(f"The model has more labels than the data: {known_names}")
K |        y = ordered
ek|        y = None if unknown else y  # predicting needs no labels
eK|        is_whole = set(range(len(known_names))) == set(places.tolist())
eK|        y = y if is_whole else None  # predicting needs no labels
  |    class_names = list(known_names)
"""

# In the margin: K several labels at once.
_TO_TRAIN = """
  |
  |
  |def numbered(labels):
  |    \"\"\"The labels by the numbers that the model has for their classes.\"\"\"
  |    if labels is None:
  |        return None
k |    return places[labels].astype(np.int32)
K |    ordered = np.zeros((len(labels), len(known_names)), np.float32)
K |    ordered[:, places] = labels
K |    return ordered
  |
  |
  |if known_names:
  |    places = places_of(class_names)
  |    unknown = [name for name, place in zip(class_names, places) if place < 0]
  |    if unknown:
  |        raise SystemExit(f"The model was not trained on these classes: {unknown}")
K |    if set(places.tolist()) != set(range(len(known_names))):
K |        raise SystemExit(f"The model has more labels than the data: {known_names}")
  |$numbered
  |    class_names = list(known_names)
k |    class_count = len(class_names)
"""

_KEPT = """
import json
import zipfile

$class_names
with zipfile.ZipFile("model.keras", "a") as archive:
    trained_on = {"schema_version": 1, "predicts": "$predicts", "class_names": $kept}
    archive.writestr("$member", json.dumps(trained_on))
"""


def classes_of_model(profile: Profile) -> str:
    """From labels ``y`` and ``class_names`` of the data to those of the model."""
    model, target = profile.model, profile.data.target_kind
    if target is Target.VALUES:
        return ""
    conditions = {
        "K": target is Target.LABELS,
        "E": profile.task == "evaluate",
        "L": profile.inference.unknown_classes == "leave_out",
    }
    holds = {letter for letter, is_so in conditions.items() if is_so}
    return _known_names(model) + lines_for(_OF_MODEL, holds)


def _known_names(model: ModelSettings) -> str:
    return (
        Template(_KNOWN)
        .substitute(
            path=repr(model.chosen_path),
            member=TRAINED_ON_MEMBER,
            names=repr(list(model.chosen_class_names)),
        )
        .rstrip("\n")
    )


def keeps_classes(model: ModelSettings, data: DataSettings) -> bool:
    """Whether a saved model is trained further on the classes that it has.

    Of tables and texts its record of the features has decided already.
    """
    has_classes = data.target_kind is not Target.VALUES and not data.makes_features
    return model.is_saved and not model.has_new_head and has_classes


def classes_to_train(model: ModelSettings, data: DataSettings) -> str:
    """From the labels of each set to the numbers that the model has for their classes."""
    if not keeps_classes(model, data):
        return ""
    sets = ["y", *(["y_val"] if data.may_validate else []), *(["y_test"] if data.may_test else [])]
    several = {"K"} if data.target_kind is Target.LABELS else set()
    text = lines_for(_TO_TRAIN, several)
    numbered = "\n".join(f"    {name} = numbered({name})" for name in sets)
    names = joined(script_of(data).class_names(data))
    return joined(names, _known_names(model) + Template(text).substitute(numbered=numbered))


def kept_classes(model: ModelSettings, data: DataSettings) -> str:
    """Adds to ``model.keras`` what its outputs are about."""
    target = data.target_kind or Target.CLASSES
    has_names = target is not Target.VALUES
    is_found = has_names and not keeps_classes(model, data)
    return Template(_KEPT).substitute(
        class_names=joined(script_of(data).class_names(data)) if is_found else "",
        predicts=target.value,
        kept="list(class_names)" if has_names else "[]",
        member=TRAINED_ON_MEMBER,
    )
