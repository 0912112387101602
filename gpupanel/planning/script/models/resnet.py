"""A residual network for small images, as the trainer builds it."""

from typing_extensions import override

from gpupanel.domain.model import ResNetModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import (
    BuiltText,
    ModelScript,
    outputs_of,
    scaled,
    through,
)
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined


class _ResNet(ModelScript[ResNetModel]):
    """Python that builds the blocks."""

    @override
    def built(self, model: ResNetModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        text = f"hidden = residual_network(hidden, {list(model.filters)}, {model.blocks})"
        last = [f'Dense({outputs_of(profile.data)}, name="outputs", dtype="float32")']
        dropout = [f'Dropout({model.dropout}, name="dropout")'] if model.dropout else []
        lines = [*map(through, dropout), through(*last, after="outputs")]
        return BuiltText(
            part("residual_network"),
            in_scope=joined(scaled(profile.data), text, "\n".join(lines)),
        )


SCRIPT = _ResNet()
