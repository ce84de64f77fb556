# SPDX-License-Identifier: BSD-3-Clause
"""What tests of every folder may ask for."""
import os

import pytest

from support.built import mpiq_program

# In MPI_Finalize a rank waits two seconds for its launcher's answer, then goes on and exits.  A launcher that has not read the
# rank's message by then takes the exit for a failure: on a busy machine, a healthy job fails (open-mpi/ompi#7833).
for launcher in ("OMPI_MCA_orte", "PRTE_MCA_prte"):
    os.environ.setdefault(f"{launcher}_allowed_exit_without_sync", "1")


@pytest.fixture(scope="session")
def mpiq():
    """Path of the mpiq program."""
    return mpiq_program()
