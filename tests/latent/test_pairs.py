# SPDX-License-Identifier: BSD-3-Clause
"""A sample of all pairs of collectives in swapped order: `pairs.py --all` runs all of them."""
import concurrent.futures
import shutil

import pytest

import pairs

SAMPLE = [
    ("blocking", 4, ("bcast", "reduce")),
    ("blocking", 2, ("barrier", "comm_dup")),
    ("blocking", 3, ("allgatherv", "neighbor_alltoallw")),
    ("nonblocking", 3, ("gather", "scatterv")),
    ("nonblocking", 2, ("barrier", "allreduce")),
    ("nonblocking", 4, ("reduce_scatter", "comm_dup")),
    ("persistent", 2, ("scan", "alltoall")),
]
AT_ONCE = 3


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """compiled(library): the program, and the kinds of collectives that the library has."""
    programs = {}

    def compile_for(library):
        if not shutil.which(f"mpicc.{library}"):
            pytest.skip(f"mpicc.{library} is not installed")
        if library not in programs:
            programs[library] = pairs.compile_pairs(library, tmp_path_factory.mktemp(library))
        return programs[library], [kind for kind in pairs.KINDS if pairs.names_of(programs[library], kind)]

    return compile_for


def wrong(cases):
    """What is wrong, by case: of {case: (function, arguments…)}, several at once."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {case: pool.submit(*call) for case, call in cases.items()}
    return {case: future.result() for case, future in futures.items() if future.result()}


@pytest.mark.parametrize("library", pairs.LIBRARIES)
def test_swapped_pairs_are_reported(library, compiled):
    program, kinds = compiled(library)
    assert wrong({(kind, ranks, pair): (pairs.wrong_with_swapped, library, program, ranks, pair, kind)
                  for kind, ranks, pair in SAMPLE if kind in kinds}) == {}


# On MPICH, whose ranks never give a processor away, for a minute; test_latent has right programs there.
@pytest.mark.parametrize("library", [pytest.param("mpich", marks=pytest.mark.whole), "openmpi"])
def test_right_pairs_are_not_accused(library, compiled):
    program, kinds = compiled(library)
    assert wrong({kind: (pairs.wrong_with_right, library, program, 3, kind) for kind in kinds}) == {}
