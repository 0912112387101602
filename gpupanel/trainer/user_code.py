"""Carries out Python code of the person's own, and reports where it failed.

Only a run does: whoever starts it has seen to it that the person trusts the file, and hands over
the digest of what is trusted.
"""

import errno
import linecache
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from gpupanel.domain.checked_files import changed_file, digest_of
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.guarded_files import read_file
from gpupanel.trainer.file_errors import chain
from gpupanel.trainer.private_network import leads_nowhere

_UNREACHABLE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})
_LONGEST_SENTENCE = 300
_known: dict[str, str] = {}
"""Files that were carried out in this process, by the profile keys that name them."""


@dataclass(frozen=True, slots=True)
class RunCode:
    """A file of the person's own, as a run keeps it.

    Attributes:
        key: The profile key that names it: ``model.path`` or ``data.path``.
        named: The path in the profile, which people know it by.
        kept: The run's copy, which is what is carried out.
        trusted: The digest of the content that the person trusts; ``None``: nobody has said any,
            and nothing is carried out.
    """

    key: str
    named: str
    kept: Path
    trusted: str | None = None

    def function(self, name: str) -> Callable[..., object]:
        """Carry the file out and give one of its functions.

        Raises:
            ProblemError: The run has no copy of it, what is there is not what the person trusts,
                or it has no such function.
            Exception: Whatever it raises; :func:`user_code_problem` has the problem.
        """
        module = self._carried_out()
        function = getattr(module, name, None)
        if callable(function):
            return exits_reported(self, function)
        raise self.problem(
            "user_code_function_missing",
            f"{self.named} has no function {name}.",
            "The documentation describes the function's arguments and result.",
        )

    def values(self, *names: str) -> tuple[object, ...]:
        """Carry the file out and give what these names stand for; ``None`` for what is not there.

        Raises:
            ProblemError: As :meth:`function`.
            Exception: Whatever it raises.
        """
        module = self._carried_out()
        return tuple(getattr(module, name, None) for name in names)

    def problem(self, code: str, message: str, hint: str) -> ProblemError:
        """A problem with what the file does."""
        return ProblemError(Problem(code=code, field=self.key, message=message, hint=hint))

    def _carried_out(self) -> ModuleType:
        try:
            content = read_file(self.kept, self.kept.parent.parent)
        except OSError as error:
            raise self.problem(
                "code_missing",
                f"The run's copy of {self.named} cannot be read: {error.strerror}.",
                "Start the profile again; that makes a new run.",
            ) from error
        if self.trusted is None:
            raise self.problem(
                "code_not_trusted",
                f"Whoever started this process has not said that {self.named} is trusted, so it "
                "was not executed.",
                "Start the run in the window, or with gpupanel run or resume.",
            )
        # Of the bytes that are compiled below: what stands in the file by then is not read again.
        if digest_of(content) != self.trusted:
            raise changed_file(f"{self.kept.parent.name}/{self.kept.name}")
        _known[self.named] = self.key
        # The lines of this moment: a trace shows them even when the file itself has changed.
        lines = content.decode(errors="replace").splitlines(keepends=True)
        linecache.cache[self.named] = (len(content), None, lines, self.named)
        module = ModuleType(f"gpupanel_code_{self.key.partition('.')[0]}")
        module.__file__ = self.named
        # Keras and dataclasses look classes up by the module that they say they are of.
        sys.modules[module.__name__] = module
        exits_reported(self, exec)(compile(content, self.named, "exec"), module.__dict__)
        return module


def exits_reported(code: RunCode, function: Callable[..., object]) -> Callable[..., object]:
    """The function, whose ``sys.exit`` ends the run with a sentence instead of without one."""

    def called(*args: object, **kwargs: object) -> object:
        try:
            return function(*args, **kwargs)
        except SystemExit as error:
            raise code.problem(
                "user_code_failed",
                f"{code.named} ended the process (exit status {error.code}).",
                "Leave sys.exit out of it, and out of what it does when it is imported.",
            ) from error

    return called


def user_code_problem(error: BaseException) -> Problem | None:
    """The problem of an error that came out of the person's own code.

    Returns:
        File, line and sentence; ``None`` when no line of theirs was at work.
    """
    for cause in chain(error):
        place = _place(cause)
        if place is not None:
            file, line, function = place
            where = "" if function in ("", "<module>") else f", in {function}"
            return Problem(
                code="user_code_failed",
                field=_known[file],
                message=f"{file} failed in line {line}{where}: {type(cause).__name__}: "
                f"{_sentence(cause)}",
                hint=_hint(error),
                detail="".join(traceback.format_exception(error)),
            )
    return None


def _hint(error: BaseException) -> str:
    if leads_nowhere() and any(_is_of_network(cause) for cause in chain(error)):
        return (
            "The processes of this strategy have a network of their own, without access to "
            "anything else: load what the code needs beforehand, or use a strategy of one process, "
            "such as mirrored."
        )
    if any(_is_of_relative_path(cause) for cause in chain(error)):
        return (
            "In a run a relative path leads nowhere: begin it with Path(__file__).parent, the "
            "folder of your file."
        )
    return "Fix it and start again; the details show how it got there."


def _is_of_relative_path(error: BaseException) -> bool:
    if not isinstance(error, FileNotFoundError | PermissionError):
        return False
    # Some libraries raise it without a name.
    return not (isinstance(error.filename, str) and Path(error.filename).is_absolute())


def _is_of_network(error: BaseException) -> bool:
    is_unreachable = isinstance(error, OSError) and error.errno in _UNREACHABLE
    return is_unreachable or isinstance(error, socket.gaierror | ConnectionError | TimeoutError)


def _place(error: BaseException) -> tuple[str, int, str] | None:
    """File, line and function of the last line of theirs that was at work."""
    if isinstance(error, SyntaxError) and error.filename in _known:
        return error.filename, error.lineno or 1, ""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in _known
    ]
    return (frames[-1].filename, frames[-1].lineno or 1, frames[-1].name) if frames else None


def _sentence(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:_LONGEST_SENTENCE] if lines else "it gives no message."
