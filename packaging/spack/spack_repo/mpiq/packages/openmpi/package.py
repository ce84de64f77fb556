# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

from spack_repo.builtin.packages.openmpi.package import Openmpi as BuiltinOpenmpi

from spack.package import *

OMPI_PATCH = pathlib.Path(__file__).resolve().parents[6] / "ompi-patch"


class Openmpi(BuiltinOpenmpi):
    """Open MPI as Spack builds it, and with +mqs as one that remembers what a debugger asks for:
    how often each rank has called each collective, and what each thread waits for and since when.
    """

    variant(
        "mqs",
        default=False,
        when="@4.1:6.0",
        description="Remember collective calls and waits for mpiq",
    )

    # Stored patches, for the releases that they apply to unchanged; for others one is made from
    # the release.
    patch(str(OMPI_PATCH / "openmpi-4.1.4.patch"), when="@4.1.2:4.1.7 +mqs")
    patch(str(OMPI_PATCH / "openmpi-4.1.8.patch"), when="@4.1.8 +mqs")
    patch(str(OMPI_PATCH / "openmpi-5.0.7.patch"), when="@5.0.7:5.0.8 +mqs")
    patch(str(OMPI_PATCH / "openmpi-5.0.10.patch"), when="@5.0.10 +mqs")

    @when("@4.1.0:4.1.1,5.0.0:5.0.6,5.0.9,5.0.11:6.0 +mqs")
    def patch(self):
        generate = Executable(sys.executable)
        made, release = "mpiq.patch", str(self.version.up_to(3))
        generate(str(OMPI_PATCH / "generate"), "--source", ".", "--output", made, release)
        which("patch", required=True)("-p1", "-s", "-i", made)
