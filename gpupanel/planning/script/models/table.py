"""A network for tables, as the trainer builds it."""

from collections.abc import Iterator
from string import Template

from typing_extensions import override

from gpupanel.domain.layers import NORM_MOMENTUM
from gpupanel.domain.model import TabularModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.tabular_model import MOST_UNITS
from gpupanel.planning.script.model_section import (
    BuiltText,
    ModelScript,
    outputs_of,
    scaled,
    through,
)
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_EMBEDDED = """
categories, start = [], 0
for column in features:
    width = len(column.get("categories", [None]))
    categories += [(start, width)] if column["kind"] == "category" else []
    start += width
hidden = embedded_columns(hidden, categories, lambda width: $units)
"""


class _Table(ModelScript[TabularModel]):
    """Python that builds embeddings and dense layers."""

    @override
    def built(self, model: TabularModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        units = model.embedding_units or f"min({MOST_UNITS}, round(1.6 * width**0.56))"
        embedded = Template(_EMBEDDED).substitute(units=units)
        lines = [
            *_dense(model),
            through(
                f'Dense({outputs_of(profile.data)}, name="outputs", dtype="float32")',
                after="outputs",
            ),
        ]
        return BuiltText(
            part("table_columns") if profile.data.has_categories else "",
            in_scope=joined(
                scaled(profile.data),
                embedded if profile.data.has_categories else "",
                "\n".join(lines),
            ),
        )


def _dense(model: TabularModel) -> Iterator[str]:
    for number, units in enumerate(model.hidden, start=1):
        name = f"dense_{number}"
        bias = ", use_bias=False" if model.batch_norm else ""
        yield through(f'Dense({units}{bias}, name="{name}")')
        if model.batch_norm:
            yield through(f'BatchNormalization(momentum={NORM_MOMENTUM}, name="{name}_norm")')
        yield through(f'ReLU(name="{name}_relu")')
        if model.dropout:
            yield through(f'Dropout({model.dropout}, name="{name}_dropout")')


SCRIPT = _Table()
