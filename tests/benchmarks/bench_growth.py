"""How time, memory and stalls of the window grow with the work that a person has.

Run with ``python -m tests.benchmarks.bench_growth [PART ...] [--write]``. Each part is measured at
three sizes, each in a process of its own and a folder that is removed after it, with Qt's offscreen
platform; the exponent is that between the two greatest sizes: 1 is in proportion. ``--write`` puts
the figures of the parts into the guide's page of figures.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gpupanel.ui.quick_imports import quick_imports

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "resources" / "guide" / "figures.md"
HEADING = "## Growth"
MOST_EXPONENT = 1.15
"""In proportion, as far as one measurement of each size can tell."""
_ANSWERS = {"turn_ms": 100.0, "stall_ms": 100.0}
"""A window stands still for no longer."""
LIMIT_S = 900.0


@dataclass(frozen=True)
class Part:
    """What is measured.

    Attributes:
        title: What there is so much of, as the guide says it.
        bounds: Of some figures at the greatest size.
    """

    title: str
    bounds: dict[str, float] = field(default_factory=dict)


PARTS = {
    "files": Part("images in 100 folders of classes", {"listed_s": 10.0, "listed_mib": 300.0}),
    "table": Part("rows of a table of 6 columns"),
    "runs": Part("runs in the list", _ANSWERS),
    "devices": Part("devices of a cluster, 8 to a node", {"reading_ms": 50.0, "plan_ms": 100.0}),
    "epochs": Part("epochs of a run", _ANSWERS),
    "log": Part("MB of log", {**_ANSWERS, "opened_s": 5.0}),
    "events": Part("events of a run", {**_ANSWERS, "drawn_s": 2.0}),
}
NAMES = {
    "listed_s": "listed, s",
    "listed_mib": "memory of that, MiB",
    "kept_cpu_s": "what shows that they are the same kept, processor s",
    "compared_cpu_s": "read and compared with what they are, processor s",
    "first_step_s": "start to first step, s",
    "first_step_again_s": "the same, imported before, s",
    "list_cpu_s": "first listing, processor s",
    "list_again_cpu_s": "listed again, processor s",
    "shown_s": "page shown to list shown, s",
    "shown_stall_ms": "longest stall until then, ms",
    "keystroke_cpu_s": "a letter of a search, processor s",
    "followed_s": "something new shown after, s",
    "terminal_cpu_s": "`gpupanel devices`, its table, processor s",
    "first_reading_ms": "first reading and plan, ms of the window's thread",
    "reading_ms": "each further reading, ms",
    "plan_ms": "a new plan, ms",
    "open_node_ms": "a node opened, ms",
    "frame_ms": "a frame of *Live* with an hour of telemetry, ms",
    "report_cpu_s": "report as a page, processor s",
    "curves_cpu_s": "curves of a comparison, processor s",
    "drawn_s": "run opened until all is drawn, s",
    "window_cpu_s": "of that, processor of the window, s",
    "last_lines_cpu_s": "last lines, as a terminal shows them, processor s",
    "opened_s": "window made until the log is shown, s",
    "turn_ms": "longest turn of the window's thread, processor ms",
    "stall_ms": "longest stall of it, ms",
    "peak_mib": "memory beyond the empty window, MiB",
}
LITTLE = {"_s": 0.5, "_ms": 25.0, "_mib": 64.0}
"""Figures below these, by their units, are what is there anyway: their growth says nothing."""


def main() -> int:
    """Print the figures; 1 when one misses its bound or grows faster than in proportion."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--write", action="store_true", help="write the guide's page of figures")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        name, size, folder = arguments.one
        print(json.dumps(_module(name).measure(int(size), Path(folder))), flush=True)
        return 0
    unknown = set(arguments.parts) - PARTS.keys()
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    missed, rows = [], []
    for name in arguments.parts or PARTS:
        print(f"\n{name}: {PARTS[name].title}", flush=True)
        missed += _measure_part(name, rows)
    if arguments.write:
        _write_page(rows)
    print("\n" + ("\n".join(["missed:", *missed]) if missed else "ok"))
    return 1 if missed else 0


def _module(name: str) -> Any:
    with quick_imports():  # as the application does
        return importlib.import_module(f"tests.benchmarks.growth.{name}")


def _measure_part(name: str, rows: list[str]) -> list[str]:
    """Measure and print a part; the sentences about what it misses."""
    from tests.benchmarks.growth.measuring import exponent

    sizes, found = _module(name).SIZES, []
    for size in sizes:
        try:
            found.append(_measured(name, size))
        except (subprocess.SubprocessError, ValueError) as error:
            return [f"{name} at {size:,}: {error}"]
    part, missed = PARTS[name], []
    rows += [
        "",
        f"| {part.title} | {' | '.join(f'{size:,}' for size in sizes)} | grows as | bound |",
    ]
    rows.append("|---|---|---|---|---|---|")
    for key in found[0]:
        values = [each[key] for each in found]
        growth, bound = exponent(sizes, values), part.bounds.get(key)
        said = f"n^{growth:.2f}"
        if values[-1] < LITTLE[key[key.rindex("_") :]]:
            said = "little"
        elif growth > MOST_EXPONENT:
            missed.append(f"{name}: {NAMES[key]} grows as {said}, and not in proportion")
        if bound is not None and values[-1] > bound:
            missed.append(f"{name}: {NAMES[key]} is {_number(values[-1])}, not {bound:g} at most")
        cells = [*map(_number, values), said, "" if bound is None else f"{bound:g}"]
        rows.append(f"| {NAMES[key]} | {' | '.join(cells)} |")
        print(f"  {NAMES[key]:52}" + "".join(f"{cell:>12}" for cell in cells), flush=True)
    return missed


def _measured(name: str, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        told = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.benchmarks.bench_growth",
                "--one",
                name,
                str(size),
                folder,
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=LIMIT_S,
        )
    figures: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return figures


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:.3g}"


def _write_page(rows: list[str]) -> None:
    """Put each table in the place of the one with its title, or behind the others."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n\n")
    section, _, after = rest.partition("\n\n## ")
    blocks = section.split("\n\n")
    for table in "\n".join(rows).strip().split("\n\n"):
        title = table.split(" | ")[0]
        place = next((at for at, each in enumerate(blocks) if each.startswith(title)), len(blocks))
        blocks[place : place + 1] = [table]
    written = "\n\n".join((f"{before}{HEADING}", *blocks, f"## {after}"))
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
