"""Writes traces as TensorFlow's profiler does, and prints what is read from each of them."""

import json
import sys
from pathlib import Path

from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XPlane, XSpace

from gpupanel.trainer.tracing.__main__ import answer

MICROSECOND = 10**6
Event = tuple[str, int, int]
"""Its name, when it begins and how long it lasts, in microseconds."""


def add_line(plane: XPlane, name: str, *events: Event, **statistics: str) -> None:
    known = {metadata.name: key for key, metadata in plane.event_metadata.items()}
    line = plane.lines.add(name=name)
    for title, begin, lasts in events:
        key = known.setdefault(title, len(known) + 1)
        plane.event_metadata[key].id = key
        plane.event_metadata[key].name = title
        event = line.events.add(
            metadata_id=key, offset_ps=begin * MICROSECOND, duration_ps=lasts * MICROSECOND
        )
        for number, (statistic, text) in enumerate(statistics.items(), start=1):
            plane.stat_metadata[number].name = statistic
            event.stats.add(metadata_id=number, str_value=text)


def host(*events: Event) -> XSpace:
    space = XSpace()
    add_line(space.planes.add(name="/host:CPU"), "tf_Compute/1", *events)
    return space


def gpus() -> XSpace:
    space = host(("conv/Conv2D:Conv2D", 0, 5), ("replica_1/conv/Conv2D:Conv2D", 5, 5))
    for number in (1, 0):
        plane = space.planes.add(name=f"/device:GPU:{number}")
        add_line(plane, "Stream #13", ("sm80_xmma", 0, 100), tf_op="replica_1/conv/Conv2D:Conv2D")
        add_line(plane, "Steps", ("1", 0, 10_000))
    plane.stat_metadata[7].name = "hlo_op"
    plane.stat_metadata[8].name = "fusion.3"
    event = plane.lines[0].events.add(metadata_id=1, duration_ps=50 * MICROSECOND)
    event.stats.add(metadata_id=7, ref_value=8)
    add_line(plane, "Stream #14", ("MemcpyH2D", 0, 20))
    return space


def strange() -> XSpace:
    space = host(("a\x1b]0;x:Mul", 0, 1), ("one/Mul:Mul", 0, 2))
    space.planes[0].lines[0].events[1].duration_ps = -5
    space.planes[0].lines[0].events.add(metadata_id=2, offset_ps=-(2**62), duration_ps=2**62)
    space.planes[0].lines[0].events.add(metadata_id=999, duration_ps=7)
    space.errors.append("no \x1b[2J rights")
    space.warnings.extend(["w"] * 100)
    return space


LOOP = "while/body/_1/while"
TRACES = {
    "gpus": gpus,
    "nested": lambda: host(("outer/While:While", 0, 100), ("inner/Mul:Mul", 10, 30)),
    "twice": lambda: host(("one/Mul:Mul", 0, 10), ("one/Mul:Mul", 20, 30)),
    "replicas": lambda: host(
        (
            f"{LOOP}/replica_1/gradients/while/replica_1/trained_1/dense_1_1/MatMul_grad/MatMul:MatMul",
            0,
            9,
        ),
        (f"{LOOP}/trained_1/dense_1_1/MatMul:MatMul", 10, 8),
        (f"{LOOP}/update_1_3/ResourceApplyAdam:ResourceApplyAdam", 20, 7),
        (f"{LOOP}/update_0_3/ResourceApplyAdam:ResourceApplyAdam", 30, 6),
        (f"{LOOP}/NoOp/_76:_Send", 40, 5),
    ),
    "no operations": lambda: host(
        ("ExecutorState::Process", 0, 9), ("EagerService:Enqueue", 0, 9), ("python", 0, 9)
    ),
    "many": lambda: host(*((f"op{n}/Mul:Mul", 100 * n, 30 - n) for n in range(25))),
    "strange": strange,
}


def written(root: Path, name: str) -> Path:
    return root / name / "plugins" / "profile" / "2026_11_24_19_15_44" / "vm.xplane.pb"


def main(root: Path) -> None:
    for name, make in TRACES.items():
        path = written(root, name)
        path.parent.mkdir(parents=True)
        path.write_bytes(make().SerializeToString())
    written(root, "damaged").parent.mkdir(parents=True)
    written(root, "damaged").write_bytes(b"\xff\x01 no trace")
    written(root, "linked").parent.mkdir(parents=True)
    written(root, "linked").symlink_to(written(root, "twice"))
    answers = {
        name: answer(root, root / name).model_dump(mode="json")
        for name in (*TRACES, "damaged", "linked", "missing")
    }
    print(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
