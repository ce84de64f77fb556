# SPDX-License-Identifier: BSD-3-Clause
"""What tests of every folder may ask for."""
import os

import pytest

from support.built import mpiq_program

# A rank in MPI_Finalize waits two seconds for its launcher to hear of it, and the launcher calls the end of one that it has
# not heard of a failure: on a busy machine, a right job then fails (open-mpi/ompi#7833).
for launcher in ("OMPI_MCA_orte", "PRTE_MCA_prte"):
    os.environ.setdefault(f"{launcher}_allowed_exit_without_sync", "1")


@pytest.fixture(scope="session")
def mpiq():
    """Path of the mpiq program."""
    return mpiq_program()
