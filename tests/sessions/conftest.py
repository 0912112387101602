"""What sessions are made of."""

import pytest

from tests.sessions.material import Material, make_material


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    """Data and code, written once."""
    return make_material(tmp_path_factory.mktemp("material"))
