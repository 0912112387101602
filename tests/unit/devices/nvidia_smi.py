"""What ``nvidia-smi`` says, to compare with: NVIDIA's own reader of the same library."""

import re
import subprocess
from dataclasses import dataclass
from xml.etree import ElementTree

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_MIG_UUID = re.compile(r"\(UUID: (MIG-[^)]+)\)")


@dataclass(frozen=True)
class SmiGpu:
    """One GPU.

    Attributes:
        fields: Of ``--query-gpu``, those that this version of nvidia-smi knows; ``None`` for what
            the GPU does not tell.
        remapped_rows: Of correctable and uncorrectable errors together.
        texts: The leaves of ``-q -x`` that are named only there, by their tag.
    """

    fields: dict[str, str | None]
    remapped_rows: float | None
    texts: dict[str, str]

    def number(self, *names: str) -> float | None:
        """The first of these fields that this version knows, if it is a number."""
        return _number(next((self.fields[name] for name in names if name in self.fields), None))

    def text_number(self, tag: str) -> float | None:
        """A number that is only in the XML ("87 C")."""
        return _number(self.texts.get(tag, "").split(" ")[0])

    def knows(self, *names: str) -> bool:
        """Whether this version of nvidia-smi knows one of these fields."""
        return any(name in self.fields for name in names)


def smi_gpus(wanted: tuple[str, ...]) -> dict[str, SmiGpu]:
    """The GPUs by their UUID, with those of the wanted fields that this nvidia-smi knows."""
    known = set(re.findall(r'"([a-z0-9_.]+)"', _said("--help-query-gpu")))
    names = ("uuid", *(name for name in wanted if name in known))
    rows = _rows(f"--query-gpu={','.join(names)}")
    rows_remapped = _remapped_rows()
    texts = _texts()
    return {
        str(uuid): SmiGpu(
            dict(zip(names, (uuid, *values), strict=True)),
            rows_remapped.get(uuid),
            texts[str(uuid)],
        )
        for uuid, *values in rows
    }


def smi_topology() -> list[list[str]]:
    """How each GPU is connected with each, in nvidia-smi's short names ("NV4", "PHB")."""
    lines = _ESCAPES.sub("", _said("topo", "-m")).splitlines()
    rows = [line.split() for line in lines if re.match(r"GPU\d+\s", line) and " X " in f"{line} "]
    return [row[1 : len(rows) + 1] for row in rows]


def smi_mig_instances() -> set[str]:
    """The UUIDs of all MIG instances."""
    return set(_MIG_UUID.findall(_said("-L")))


def _said(*arguments: str) -> str:
    answer = subprocess.run(
        ["nvidia-smi", *arguments], capture_output=True, text=True, timeout=60, check=True
    )
    return answer.stdout


def _rows(query: str) -> list[list[str | None]]:
    said = _said(query, "--format=csv,noheader,nounits")
    return [[_told(cell.strip()) for cell in line.split(", ")] for line in said.splitlines()]


def _told(cell: str) -> str | None:
    """``[N/A]``, ``[Not Supported]`` and their like are nothing."""
    return None if not cell or cell.startswith("[") or cell == "N/A" else cell


def _number(cell: str | None) -> float | None:
    return float(cell) if cell and cell.replace(".", "", 1).isdigit() else None


def _remapped_rows() -> dict[str | None, float]:
    names = "gpu_uuid,remapped_rows.correctable,remapped_rows.uncorrectable"
    try:
        rows = _rows(f"--query-remapped-rows={names}")
    except subprocess.CalledProcessError:
        return {}  # A version without it, or no GPU that has it.
    return {
        row[0]: sum(counts)
        for row in rows
        if None not in (counts := [_number(cell) for cell in row[1:]])
    }


def _texts() -> dict[str, dict[str, str]]:
    """Each leaf by its tag; the first where a tag is there several times."""
    root = ElementTree.fromstring(_said("-q", "-x"))
    found: dict[str, dict[str, str]] = {}
    for gpu in root.findall("gpu"):
        leaves: dict[str, str] = {}
        for leaf in gpu.iter():
            leaves.setdefault(leaf.tag, (leaf.text or "").strip())
        found[leaves["uuid"]] = leaves
    return found
