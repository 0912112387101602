"""What a step of a large model holds in every way, as the process that builds it answers."""

from gpupanel.domain.step_memory import LayerMemory, MemoryPeak, StepMemory, StepVariant

MIB = 2**20


def large_step(
    mib_an_example: int,
    weight_mib: int,
    *,
    operations: int = 20_000_000_000,
    kept: float = 0.8,
    layers: int = 20,
) -> StepMemory:
    """A step of equal layers, which hold that much of each example."""
    each, weights = mib_an_example * MIB, weight_mib * MIB
    return StepMemory(
        peaks=(MemoryPeak(fixed_bytes=weights, bytes_per_example=each),),
        example_bytes=600_000,
        weight_bytes=weights,
        trainable_bytes=weights,
        largest_weight_bytes=weights // 10,
        operations=operations,
        launches=20 * layers,
        layers=tuple(
            _layer(number, round(kept * each) // layers, weights // layers, operations // layers)
            for number in range(layers)
        ),
    )


def _layer(number: int, kept_bytes: int, weights: int, operations: int) -> LayerMemory:
    kept = MemoryPeak(fixed_bytes=0, bytes_per_example=kept_bytes)
    most = MemoryPeak(fixed_bytes=weights, bytes_per_example=2 * kept_bytes)
    return LayerMemory(
        name=f"layer_{number}",
        weight_bytes=weights,
        trainable_bytes=weights,
        largest_weight_bytes=weights,
        kept=kept,
        again=kept,
        block=number,
        most=(most,),
        operations=operations,
        launches=20,
        outputs=kept_bytes // 4,
    )


LARGE = large_step(300, 1_500)
VARIANTS = (
    StepVariant(mixed_precision=False, recomputes=False, step=LARGE),
    StepVariant(
        mixed_precision=False,
        recomputes=True,
        step=large_step(100, 1_500, operations=26_000_000_000, kept=0.3),
    ),
    StepVariant(mixed_precision=True, recomputes=False, step=large_step(180, 1_500)),
    StepVariant(
        mixed_precision=True,
        recomputes=True,
        step=large_step(60, 1_500, operations=26_000_000_000, kept=0.3),
    ),
)
"""Half precision and recomputation each hold less; layers can be placed."""
