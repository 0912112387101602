"""Why gpupanel cannot start here, as a sentence: said where nothing but Python itself works.

Made of the standard library alone, as :mod:`gpupanel.devices.elsewhere` is.
"""

import traceback
from collections.abc import Mapping

from gpupanel.devices.elsewhere import (
    Elsewhere,
    elsewhere,
    libraries_before_ours,
    packages_before_ours,
)
from gpupanel.domain.visible_text import visible_line


def start_refusal(error: BaseException, environment: Mapping[str, str]) -> str:
    """Two lines: what went wrong when gpupanel's own modules were imported, and what to do.

    Args:
        error: What was raised.
        environment: The variables of this process.
    """
    reason = " ".join((f"{type(error).__name__}: {error}").split())
    spoiled = spoiled_by(error, environment)
    if spoiled is None:
        hint = "Install it again in its environment: pip install --force-reinstall gpupanel"
        return f"error  gpupanel cannot start: {visible_line(reason)}\n    {hint}"
    spoiler, names = spoiled
    return (
        f"error  gpupanel cannot start because of {spoiler.name}, which brings {', '.join(names)}: "
        f"{visible_line(reason)}\n    Start it without: {spoiler.command}"
    )


def spoiled_by(
    error: BaseException, environment: Mapping[str, str]
) -> tuple[Elsewhere, tuple[str, ...]] | None:
    """What of elsewhere an error comes from, and which modules or libraries that brings.

    What the error names; else, where it says that something is not there, what stands before
    gpupanel's own. ``None``: nothing, as far as can be seen.
    """
    text = "".join(traceback.format_exception(error))
    for each in elsewhere(environment):
        if names := each.blamed_in(text):
            return each, names
    if not isinstance(error, ImportError | AttributeError):
        return None
    before = (*packages_before_ours(environment), *libraries_before_ours(environment))
    return next(iter(before), None)
