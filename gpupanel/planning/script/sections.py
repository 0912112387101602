"""Pieces of a script, put together."""

import re
import sys
from collections.abc import Iterable


def lines_of(pieces: Iterable[str]) -> str:
    """The pieces of a text one below the other; an empty one is an empty line.

    Args:
        pieces: Each without regard to the ends of lines before and after it.
    """
    return "\n".join(piece.strip("\n") for piece in pieces)


_DEFINITIONS = ("def ", "class ", "@")
_IMPORTS = ("import ", "from ")


def joined(*parts: str) -> str:
    """The parts that hold something, one below the other."""
    text = ""
    for part in (each.strip("\n") for each in parts if each):
        # A definition stands between two empty lines.
        is_after_definition = text.rpartition("\n")[2].startswith(" ")
        is_apart = is_after_definition or part.startswith(_DEFINITIONS)
        text += ("" if not text else "\n\n\n" if is_apart else "\n") + part
    return text


def with_imports_first(code: str) -> str:
    """The code with what it imports at its top: each once, the standard library's first."""
    lines = code.split("\n")
    imports = {line for line in lines if line.startswith(_IMPORTS)}
    if not imports:
        return code
    rest = "\n".join(line for line in lines if line not in imports).strip("\n")
    imports = _out_of_one_module(imports)
    rest = re.sub("\n{4,}", "\n\n\n", rest)
    module_of = {line: line.split()[1] for line in imports}
    # As isort has them: whole modules before what is taken out of one.
    ordered = sorted(imports, key=lambda line: (line.startswith("from"), module_of[line]))
    is_own = {line: module_of[line].split(".")[0] in sys.stdlib_module_names for line in imports}
    groups = [[line for line in ordered if is_own[line] is own] for own in (True, False)]
    head = "\n\n".join("\n".join(group) for group in groups if group)
    apart = "\n\n\n" if rest.startswith(_DEFINITIONS) else "\n\n"
    return f"{head}{apart}{rest}"


def _out_of_one_module(imports: set[str]) -> set[str]:
    """The same imports, with one line for all that is taken out of a module."""
    taken: dict[str, set[str]] = {}
    for line in imports:
        module, is_from, names = line.partition(" import ")
        taken.setdefault(module, set()).update(names.split(", ") if is_from else ())
    return {
        f"{module} import {', '.join(sorted(names))}" if names else module
        for module, names in taken.items()
    }


def record_in_model(name: str, path: str, member: str) -> str:
    """Python that reads what a model's file says beside the model.

    Args:
        name: Of the variable that holds it then.
        path: Of the file.
        member: What it is called in there.
    """
    opened = f"import json\nimport zipfile\n\nwith zipfile.ZipFile({path!r}) as archive:"
    return f'{opened}\n    {name} = json.loads(archive.read("{member}"))'


def added_to_model(name: str, member: str) -> str:
    """Python that adds what a variable holds to the model's file that a script has saved.

    Args:
        name: Of the variable.
        member: What it is called in there.
    """
    opened = 'import json\nimport zipfile\n\nwith zipfile.ZipFile("model.keras", "a") as archive:'
    return f'{opened}\n    archive.writestr("{member}", json.dumps({name}))'


def indented(lines: str, spaces: int = 4) -> str:
    """The lines, further to the right."""
    return "\n".join(f"{' ' * spaces}{line}" if line else "" for line in lines.split("\n"))
