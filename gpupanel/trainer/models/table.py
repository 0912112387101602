"""A network for tables; see ``TabularModel`` in the domain."""

import keras
from typing_extensions import override

from gpupanel.domain.layers import NORM_MOMENTUM
from gpupanel.domain.model import TabularModel
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.tabular_model import MOST_EMBEDDINGS
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.scaling import scaled
from gpupanel.trainer.parts.table_columns import embedded_columns


class _Table(Network[TabularModel]):
    """Embeddings of categories beside the numbers, then dense layers.

    The features of a category are 0 but for one that is 1, or all 0 where the cell is empty or the
    category is new: a dense layer over them, without bias, is an embedding in which those are 0.
    """

    @override
    def outputs(
        self, model: TabularModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        hidden = _embedded(model, scaled(inputs, building), building)
        for number, units in enumerate(model.hidden, start=1):
            name = f"dense_{number}"
            dense = keras.layers.Dense(units, use_bias=not model.batch_norm, name=name)
            hidden = building.through(dense, hidden)
            if model.batch_norm:
                norm = keras.layers.BatchNormalization(momentum=NORM_MOMENTUM, name=f"{name}_norm")
                hidden = building.through(norm, hidden)
            hidden = building.through(keras.layers.ReLU(name=f"{name}_relu"), hidden)
            if model.dropout:
                dropout = keras.layers.Dropout(model.dropout, name=f"{name}_dropout")
                hidden = building.through(dropout, hidden)
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return building.through(last, hidden)


def _embedded(
    model: TabularModel, features: keras.KerasTensor, building: Building
) -> keras.KerasTensor:
    """Columns in their order: numbers as they are, each category as what is learned for it."""
    categories = building.data.categories
    if not categories:
        return features
    if len(categories) > MOST_EMBEDDINGS:
        raise ProblemError(_too_many(len(categories)))
    return embedded_columns(features, categories, model.units_of, building.through)


def _too_many(count: int) -> Problem:
    return Problem(
        code="table_too_many_categories",
        field="model.source",
        message=f"{count:,} columns hold categories, and the model table learns numbers for "
        f"{MOST_EMBEDDINGS} columns at most.",
        hint="Leave columns out (data.ignore), or use dense layers (mlp).",
        fix=Fix.of("Use mlp", "model", {"source": "mlp"}),
    )


NETWORK = _Table()
