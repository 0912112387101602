"""Functions that the scripts of several sources define."""

from string import Template

from gpupanel.domain.data import Target

_ARRAYS = """
def features(array):
    array = np.asarray(array)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    return array if array.dtype == np.uint8 else array.astype(np.float32)


def labels(array):
    array = np.asarray(array)
    return (array[:, 0] if array.ndim == 2 else array).astype(np.$kind)
"""

ARRAYS_OF = {
    Target.CLASSES: Template(_ARRAYS).substitute(kind="int32"),
    Target.VALUES: Template(_ARRAYS).substitute(kind="float32"),
}
"""``features`` and ``labels``: arrays as a run takes them, by what the labels are."""

AS_UTF8 = '''def as_utf8(text):
    """With the bytes of a file's name that are no UTF-8 written out."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")'''
