"""An enemy of runs: swaps, links, truncates and replaces what lies in their folders, at random.

``python tests/fuzz/enemy.py RUNS_DIR VICTIM MARK SEED`` does so in every folder of a run until its
standard input ends, and then prints how often it did what. It may do anything inside of these
folders, and touches nothing outside. What it puts there leaves a mark where it is executed, or
leads to files of the victim's.
"""

import base64
import json
import marshal
import os
import random
import select
import shutil
import sys
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FILES = (
    *("profile.toml", "profile.toml", "profile.toml", "plan.json", "plan.json", "amendment.json"),
    *("code/data.py", "code/data.py", "code/model.py", "code/model.py", "start.keras"),
    *("model.keras", ".partial-model.keras", "model-last.keras", "events.jsonl", "telemetry.jsonl"),
    *("trainer.log", "run.lock", "resume.lock", "reserve", "data.json", "label.toml"),
    *("profile-1.toml", "plan-1.json", "requests/stop", "heartbeats/0", "accept-changed-data"),
)
_WRITTEN = ("model.keras", ".partial-model.keras", "model-last.keras", "data.json", "heartbeats/0")
"""Those that a training writes: it comes to its end, while these are attacked."""
_FOLDERS = ("checkpoints", "tensorboard", "tensorboard/train", "code", "requests", "heartbeats")
_MODULES = ("numpy", "json", "keras", "tensorflow", "data", "model", "sitecustomize")
_LONGEST_PAUSES_S = (0.02, 0.1, 0.5)
"""Drawn once: of those that are as busy as that no run comes to its first step."""


class Enemy:
    """Does one thing at a time.

    Args:
        runs: The folder of runs.
        victim: A folder of the person's, outside.
        mark: The file that foreign code makes.
        draw: Says what is done, and to what.
    """

    def __init__(self, runs: Path, victim: Path, mark: Path, draw: random.Random) -> None:
        self.done = Counter[str]()
        self._runs, self._victim, self._draw = runs, victim, draw
        self._leaves_start = draw.random() < 0.5
        self._code = (
            f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
            "def load(): raise SystemExit\n"
            "def build_model(*_): raise SystemExit\n"
        ).encode()
        self._model = _hostile_model(mark)

    def act(self) -> None:
        """Do something to one of the runs."""
        runs = [each for each in self._listed(self._runs) if not each.name.startswith(".")]
        if not runs:
            return
        acts: tuple[Callable[[Path], None], ...] = (
            *(self.swap,) * 4,
            *(self.link, self.hard_link, self.truncate, self.scribble, self.remove),
            *(self.link_folder, self.rename_folder, self.fifo, self.plant_module, self.amend),
        )
        if self._leaves_start:
            acts = (
                self.swap,
                self.link,
                self.hard_link,
                *(self.link_folder, self.rename_folder) * 2,
            )
        act = self._draw.choice(acts)
        with suppress(OSError, ValueError):
            act(self._draw.choice(runs))
            self.done[act.__name__] += 1

    def swap(self, run: Path) -> None:
        """Put another file in the place of one: code, a profile that names it, a hostile model."""
        path = self._file(run)
        before = _read(path)
        path.parent.mkdir(exist_ok=True)
        _put(path, self._foreign(path, before))

    def link(self, run: Path) -> None:
        """Put a link to a file of the victim's there, or to where none is yet."""
        path, name = self._file(run), self._draw.choice(("keys", "made"))
        _clear(path)
        path.symlink_to(self._victim / name)

    def hard_link(self, run: Path) -> None:
        """Put a second name of a file of the victim's there."""
        path = self._file(run)
        _clear(path)
        path.hardlink_to(self._victim / "keys")

    def truncate(self, run: Path) -> None:
        """Cut a file short."""
        files = [each for each in run.rglob("*") if _is_plain(each)]
        path = self._draw.choice(files)
        os.truncate(path, self._draw.randint(0, path.stat().st_size))

    def scribble(self, run: Path) -> None:
        """Write into a file."""
        path = self._draw.choice([each for each in run.rglob("*") if _is_plain(each)])
        with path.open("r+b") as file:
            file.seek(self._draw.randint(0, path.stat().st_size))
            file.write(self._draw.randbytes(16))

    def remove(self, run: Path) -> None:
        """Remove a file."""
        _clear(self._file(run))

    def link_folder(self, run: Path) -> None:
        """Put a link to the victim's folder in the place of one of the run's."""
        path = self._folder(run)
        if path.exists() and not path.is_symlink():
            path.rename(path.with_name(f"{path.name}.{self._draw.randrange(1_000)}"))
        _clear(path)
        path.symlink_to(self._victim)

    def rename_folder(self, run: Path) -> None:
        """Put a link away again, and what was there before back."""
        path = self._folder(run)
        aside = sorted(path.parent.glob(f"{path.name}.*"))
        if path.is_symlink():
            path.unlink()
        if aside and not path.exists():
            aside[-1].rename(path)

    def fifo(self, run: Path) -> None:
        """Put there what keeps a reader waiting."""
        path = self._file(run)
        _clear(path)
        os.mkfifo(path)

    def plant_module(self, run: Path) -> None:
        """Put modules where an import might look, and compiled ones."""
        folder = self._within(run, self._draw.choice(("", "code")) or ".")
        if folder.is_symlink():
            return
        folder.mkdir(exist_ok=True)
        for name in _MODULES:
            _put(folder / f"{name}.py", self._code)
        cache = folder / "__pycache__"
        cache.mkdir(exist_ok=True)
        for name in ("data", "model"):
            compiled = marshal.dumps(compile(self._code, name, "exec"))
            content = b"\xa7\r\r\n" + bytes(12) + compiled
            _put(cache / f"{name}.cpython-311.pyc", content)

    def amend(self, run: Path) -> None:
        """Plant a change of the run that was begun and never ended."""
        plan, profile = json.loads(_read(run / "plan.json")), {"name": "amended"}
        profile |= {"data": {"source": "python", "path": "/x.py"}}
        amendment = {"number": 1, "profile": profile, "plan": plan}
        _put(run / "amendment.json", json.dumps(amendment).encode())

    def _file(self, run: Path) -> Path:
        files = _WRITTEN if self._leaves_start else _FILES
        return self._within(run, self._draw.choice(files))

    def _folder(self, run: Path) -> Path:
        folders = _FOLDERS[:3] if self._leaves_start else _FOLDERS
        return self._within(run, self._draw.choice(folders))

    @staticmethod
    def _within(run: Path, name: str) -> Path:
        """That path, unless a link of the enemy's own leads out of the run."""
        path = run / name
        parents = path.relative_to(run).parents
        if any((run / each).is_symlink() for each in parents):
            raise ValueError(f"{path} is elsewhere")
        return path

    def _foreign(self, path: Path, before: bytes) -> bytes:
        match path.suffix:
            case ".py":
                return self._code
            case ".keras":
                return self._model
            case ".toml":
                source = self._draw.choice(("data", "model"))
                other = f'\n[{source}]\nsource = "python"\npath = "/x.py"\n'
                kept = before.decode(errors="replace").split(f"[{source}]")[0]
                return kept.encode() + other.encode()
            case ".json":
                return before.replace(b"64", b"32") or b"{}"
        return before[: len(before) // 2]

    @staticmethod
    def _listed(folder: Path) -> list[Path]:
        with suppress(OSError):
            return [each for each in folder.iterdir() if each.is_dir()]
        return []


def _put(path: Path, content: bytes) -> None:
    """Put a new file in the place of whatever stands there; nothing is written through a link."""
    beside = path.with_name(f"{path.name}.enemy")
    beside.write_bytes(content)
    beside.replace(path)


def _read(path: Path) -> bytes:
    with suppress(OSError):
        if _is_plain(path):
            return path.read_bytes()
    return b""


def _is_plain(path: Path) -> bool:
    """Whether it is a file of the run's own: the enemy writes to nothing else."""
    return path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _hostile_model(mark: Path) -> bytes:
    """A ``.keras`` file with a layer of Python code, which makes the mark."""
    code = compile(f"open({str(mark)!r}, 'w')", "lambda", "eval")
    text = base64.b64encode(marshal.dumps(code)).decode()
    function = {"code": text, "defaults": None, "closure": None}
    layer: dict[str, Any] = {
        "module": "keras.layers",
        "class_name": "Lambda",
        "config": {"name": "f", "function": {"class_name": "__lambda__", "config": function}},
    }
    layers = [{"module": "keras.layers", "class_name": "InputLayer"}, layer]
    layers[0]["config"] = {"batch_shape": [None, 8, 8, 1], "dtype": "float32", "name": "in"}
    config = {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "s", "layers": layers},
    }
    path = mark.with_name("hostile.keras")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("metadata.json", "{}")
        archive.writestr("model.weights.h5", b"\x89HDF\r\n\x1a\n")
    return path.read_bytes()


def main() -> None:
    """Act until nobody wants that any more."""
    runs, victim, mark = map(Path, sys.argv[1:4])
    draw = random.Random(int(sys.argv[4]))
    enemy = Enemy(runs, victim, mark, draw)
    longest_s = draw.choice(_LONGEST_PAUSES_S)
    while True:
        pause_s = draw.uniform(0.0, longest_s)
        if select.select((sys.stdin,), (), (), pause_s)[0]:
            break
        enemy.act()
    sys.stdout.write(json.dumps(enemy.done))


if __name__ == "__main__":
    main()
