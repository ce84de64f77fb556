# SPDX-License-Identifier: BSD-3-Clause
import pathlib

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *

# The clone that this repository of recipes is in.
CLONE = pathlib.Path(__file__).resolve().parents[6]


class Mpiq(MesonPackage):
    """Says why an MPI job hangs: which rank did not enter the collective that the others wait in,
    who waits for whom, and where in the source.  Works on jobs that already hang, on Open MPI and
    MPICH as they are installed."""

    homepage = CLONE.as_uri()
    git = CLONE.as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("otf2", default=True, description="Read and write OTF2 traces")

    depends_on("c", type="build")
    depends_on("meson@1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("capstone")
    # Its static archive: elfutils has names of its own for other types.
    depends_on("libdwarf@0.11: ~shared +pic")
    depends_on("elfutils@0.188:")
    depends_on("libseccomp")
    depends_on("ncurses")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("otf2@3:", when="+otf2")

    def meson_args(self):
        return ["-Dotf2=" + ("enabled" if self.spec.satisfies("+otf2") else "disabled")]
