# SPDX-License-Identifier: BSD-3-Clause
"""What tests of every folder may ask for."""
import pytest

from support.built import mpiq_program


@pytest.fixture(scope="session")
def mpiq():
    """Path of the mpiq program."""
    return mpiq_program()
