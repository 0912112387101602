"""The script's classes: those of a saved model, found by name, and those that a model keeps."""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import added_to_model, indented, joined, lines_of

_KNOWN = """
import json
import zipfile

with zipfile.ZipFile($path) as archive:
    there = "$member" in archive.namelist()
    trained_on = json.loads(archive.read("$member")) if there else {}
known_names = $names or trained_on.get("class_names", [])
"""

_NEEDED = ("names_at", "are_other_numbers", "places_of", "used_classes", "by_places")

_MATCHED = """
names = names_at(class_names, used)
places = np.full(len(class_names), UNKNOWN)
if are_other_numbers(names, known_names):
    places[used] = np.where(used < len(known_names), used, UNKNOWN)
else:
    places[used] = places_of(names, known_names)
unknown = [class_names[place] for place in used if places[place] == UNKNOWN]
"""
"""From the classes that are ``used`` to the numbers that the model has for them."""

_REFUSED = """
    if unknown:
        raise SystemExit(f"The model was not trained on these classes: {unknown}")
"""
_MORE_LABELS = """
        raise SystemExit(f"The model has more labels than the data: {known_names}")
"""

_KEPT = """
$class_names
trained_on = {"schema_version": 1, "predicts": "$predicts", "class_names": $kept}
"""
_KEPT_OF_OWN = """
trained_on["outputs"] = "own" if own_loss else "arrays" if ARE_ARRAYS else "row"
trained_on["own_metrics"] = list(own_metrics)
if OUTPUTS:
    trained_on["predicts"] = "values"
    trained_on["parts"] = [
        {
            "name": name,
            "predicts": predicts,
            "class_names": list(map(str, classes)),
            "weight": 1.0 if own_loss else WEIGHTS[name],
        }
        for name, (predicts, _, classes) in OUTPUTS.items()
    ]
"""


def classes_of_model(profile: Profile) -> str:
    """From labels ``y`` and ``class_names`` of the data to those of the model."""
    target = profile.data.target_kind or Target.CLASSES
    if target is Target.VALUES:
        return ""
    known = lines_of([_known_names(profile.model), "", *_of_model(profile, target)])
    return joined(part("class_names", *_NEEDED), known)


def _of_model(profile: Profile, target: Target) -> Iterator[str]:
    are_several, is_evaluated = target is Target.LABELS, profile.task == "evaluate"
    yield "if known_names:"
    yield "    if y is not None:"
    if are_several:
        yield "        used = np.arange(len(class_names))"
    else:
        yield "        used = used_classes(y, class_names, known_names)"
    yield indented(_MATCHED.strip("\n"), 8)
    if is_evaluated and profile.inference.unknown_classes != "leave_out":
        yield indented(_REFUSED.strip("\n"))
    if are_several:
        yield "        is_whole = set(range(len(known_names))) <= set(places.tolist())"
        if is_evaluated:
            yield "        if not is_whole:"
            yield indented(_MORE_LABELS.strip("\n"))
    yield f"        y = by_places(y, {target.value!r}, places, len(known_names))"
    if not is_evaluated:
        kept = "None if unknown else y"
        kept = "y if is_whole and not unknown else None" if are_several else kept
        yield f"        y = {kept}  # predicting needs no labels"
    elif not are_several:
        yield "        indices = indices[y[indices] != UNKNOWN]"
    yield "    class_names = list(known_names)"


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
    names = joined(script_of(data).class_names(data))
    known = lines_of([_known_names(model), "", *_numbered_sets(data)])
    return joined(part("class_names", *_NEEDED), names, known)


def _numbered_sets(data: DataSettings) -> Iterator[str]:
    sets = ["y", *(["y_val"] if data.may_validate else []), *(["y_test"] if data.may_test else [])]
    target = data.target_kind or Target.CLASSES
    yield "if known_names:"
    if target is Target.LABELS:
        yield "    used = np.arange(len(class_names))"
    else:
        labels = f"np.concatenate([{', '.join(sets)}])"
        yield f"    used = used_classes({labels}, class_names, known_names)"
    yield indented(_MATCHED.strip("\n"))
    yield _REFUSED
    if target is Target.LABELS:
        yield "    if set(places.tolist()) != set(range(len(known_names))):"
        yield _MORE_LABELS
    for name in sets:
        yield f"    {name} = by_places({name}, {target.value!r}, places, len(known_names))"
    yield "    class_names = list(known_names)"
    if target is not Target.LABELS:
        yield "    class_count = len(class_names)"


def kept_classes(model: ModelSettings, data: DataSettings, *, are_own: bool = False) -> str:
    """Adds to ``model.keras`` what its outputs are about.

    Args:
        model: Which.
        data: What it was trained on.
        are_own: Whether labels are arrays, and which loss and metrics there are, the script finds.
    """
    target = data.target_kind or Target.CLASSES
    has_names = target is not Target.VALUES
    is_found = has_names and not keeps_classes(model, data)
    kept = Template(_KEPT).substitute(
        class_names=joined(script_of(data).class_names(data)) if is_found else "",
        predicts=target.value,
        kept="list(class_names)" if has_names else "[]",
    )
    own = _KEPT_OF_OWN if are_own else ""
    return joined(kept, own, added_to_model("trained_on", TRAINED_ON_MEMBER))
