# SPDX-License-Identifier: BSD-3-Clause
"""What a patched library remembers: programs that read their own records and check them."""

import pytest


@pytest.mark.parametrize("ranks", [2, 4])
def test_every_collective_is_counted_exactly(library, ranks):
    library.passes(ranks, library.build("every_collective.c"))


@pytest.mark.parametrize("component", ["libnbc", "sm"])
def test_whatever_component_serves_it(library, component):
    """Components call each other and the library's own MPI functions: only the outermost counts. (Not basic:
    its MPI_Exscan on one rank crashes, patched or not.)"""
    mca = [("coll", f"{component},basic,libnbc,inter,self,tuned"), (f"coll_{component}_priority", "90")]
    library.passes(2, library.build("every_collective.c"), mca=mca)


def test_constructors_windows_files_and_persistent_ones(library):
    library.passes(2, library.build("constructors.c"))


def test_a_held_rank_is_active_until_it_is_not(library, agreement, tmp_path):
    # Hundreds of holds, each until its wait is dated.
    library.passes(2, library.build("held.c"), agreement, tmp_path / "opened", timeout=600)


@pytest.mark.parametrize("level", [1, 3])
def test_waits_say_what_they_wait_for(library, agreement, level):
    library.passes(2, library.build("waits.c"), agreement, level)


def test_a_million_collectives_of_four_threads(library):
    library.passes(1, library.build("many_threads.c"), 250000)


def test_four_threads_that_communicate(library):
    library.passes(2, library.build("many_threads.c"), 400)


def test_under_a_tool_of_the_user(library):
    """A profiling layer on top: the call counts once, and its caller is the tool."""
    library.passes(2, library.build("tool.c"))


def test_callbacks_and_how_they_leave(library):
    """Collectives in attribute callbacks and at MPI_Finalize count; an error handler may jump out of MPI."""
    library.passes(2, library.build("callbacks.c"))


@pytest.mark.parametrize("component", ["sm", "rdma"])
def test_windows_and_their_epochs(library, agreement, component):
    library.passes(2, library.build("windows.c"), agreement, mca=[("osc", component)])


def test_recording_off_records_nothing(library):
    library.passes(2, library.build("off.c"), mca=[("mpi_mqs_record", "0")])


def test_yama_is_asked(library):
    """The second parameter is known and harmless where there is no Yama."""
    library.passes(2, library.build("tool.c"), mca=[("mpi_mqs_allow_ptrace", "1")])


@pytest.mark.parametrize("source, library_needed", [("fortran.f90", "libmpi_mpifh.so"),
                                                    ("fortran_modules.f90", "libmpi_usempif08.so")])
def test_from_fortran(library, source, library_needed):
    if not (library.prefix / "lib" / library_needed).exists():
        pytest.skip(f"the patched Open MPI {library.line} has no {library_needed} (build --with-fortran)")
    check = library.build("fortran_check.c", "-c", "-fPIC")
    library.passes(2, library.build(source, str(check), compiler="mpifort"))
