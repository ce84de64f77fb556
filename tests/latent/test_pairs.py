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


@pytest.mark.parametrize("library", pairs.LIBRARIES)
def test_swapped_pairs_are_reported_and_right_ones_are_not(library, tmp_path):
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    program = pairs.compile_pairs(library, tmp_path)
    kinds = [kind for kind in pairs.KINDS if pairs.names_of(program, kind)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        swapped = {(kind, ranks, pair): pool.submit(pairs.wrong_with_swapped, library, program, ranks, pair, kind)
                   for kind, ranks, pair in SAMPLE if kind in kinds}
        right = {kind: pool.submit(pairs.wrong_with_right, library, program, 3, kind) for kind in kinds}
    assert {case: future.result() for case, future in {**swapped, **right}.items() if future.result()} == {}
