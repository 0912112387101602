"""The script's data: features ``x`` and labels ``y``, read and divided as a run does.

Lists of files, conversions and the order of examples are those of ``trainer/datasets``; tests hold
the two together. How each source is read stands in ``sources``.
"""

from string import Template

from gpupanel.domain.data import DataCache, DataSettings
from gpupanel.planning.script.sections import joined
from gpupanel.planning.script.source_script import script_of

_SPLIT = """
order = np.random.default_rng([SEED, 0]).permutation(len(x))
held_back, kept = np.split(order, [round(len(x) * $fraction)])
held_back, kept = np.sort(held_back), np.sort(kept)
x_val, y_val, x, y = x[held_back], y[held_back], x[kept], y[kept]
"""


def data_section(data: DataSettings) -> str:
    """Python that reads the data and holds back ``x_val`` and ``y_val``, where something is.

    Images that are not to be kept in memory are read whenever they are needed.
    """
    script = script_of(data)
    read = script.read(data, needs_labels=True)
    # What is decoded to disk would be deleted at the end: here it is decoded again.
    in_memory = data.cache is DataCache.MEMORY
    if data.validation_fraction:
        split = Template(_SPLIT).substitute(fraction=data.validation_fraction)
        return joined(read, split, script.pixels(data, "x", "x_val", in_memory=in_memory))
    held_back = "x_val, y_val = x_test, y_test" if data.may_validate_on_test_set else ""
    return joined(read, held_back, script.pixels(data, "x", in_memory=in_memory))
