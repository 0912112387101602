"""The script's classes: those of a saved model, found by name, and those that a model keeps."""

from string import Template

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.sections import joined, lines_for

# In the margin: K several labels at once, E evaluation, L examples of unknown classes are left out.
_OF_MODEL = """
  |import json
  |import unicodedata
  |import zipfile
  |
  |with zipfile.ZipFile($path) as archive:
  |    there = "$member" in archive.namelist()
  |    trained_on = json.loads(archive.read("$member")) if there else {}
  |known_names = $names or trained_on.get("class_names", [])
  |
  |
  |def places_of(names):
  |    \"\"\"The number of each class among those of the model; -1 where it is none of them.\"\"\"
  |    numbers = [str(number) for number in range(len(names))]
  |    if list(names) == numbers != known_names[: len(names)]:
  |        return np.where(np.arange(len(names)) < len(known_names), np.arange(len(names)), -1)
  |    composed = [unicodedata.normalize("NFC", name) for name in known_names]
  |    if len(set(composed)) == len(composed):
  |        names = [unicodedata.normalize("NFC", name) for name in names]
  |    else:
  |        composed = known_names  # some differ in that alone
  |    place = {name: number for number, name in enumerate(composed)}
  |    return np.array([place.get(name, -1) for name in names], np.int32)
  |
  |
  |if known_names:
  |    if y is not None:
  |        places = places_of(class_names)
k |        used = np.unique(y)
K |        used = np.arange(len(class_names))
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
    names = list(model.said_class_names)
    return Template(
        lines_for(_OF_MODEL, {letter for letter, holds in conditions.items() if holds})
    ).substitute(path=repr(model.chosen_path), member=TRAINED_ON_MEMBER, names=repr(names))


def kept_classes(data: DataSettings) -> str:
    """Adds to ``model.keras`` what its outputs are about."""
    target = data.target_kind or Target.CLASSES
    has_names = target is not Target.VALUES
    return Template(_KEPT).substitute(
        class_names=joined(script_of(data).class_names(data)) if has_names else "",
        predicts=target.value,
        kept="list(class_names)" if has_names else "[]",
        member=TRAINED_ON_MEMBER,
    )
