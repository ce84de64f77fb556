# SPDX-License-Identifier: BSD-3-Clause
"""Programs of this folder, built with a patched Open MPI and run under its mpirun."""
import os

import pytest
from patched import PREFIXES, Library


@pytest.fixture(scope="session", params=sorted(PREFIXES))
def library(request, tmp_path_factory):
    """Each patched library that there is."""
    name = PREFIXES[request.param]
    prefix = os.environ.get(name)
    if not prefix:
        pytest.skip(f"{name} does not say where a patched Open MPI {request.param} is")
    return Library(request.param, prefix, tmp_path_factory.mktemp(f"patch-{request.param}"))


@pytest.fixture
def agreement(tmp_path):
    """A file for two ranks to agree in."""
    path = tmp_path / "agreement"
    path.write_bytes(bytes(4096))
    return path
