"""Text that every file of a run can hold."""


def as_utf8(text: str) -> str:
    r"""The text with what UTF-8 cannot hold written out: a byte of a file's name as ``\xe9``.

    Linux lets a name be any bytes; Python stands a lone surrogate in place of one that is no
    UTF-8, and events and profiles are UTF-8.
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
