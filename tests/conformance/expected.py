# SPDX-License-Identifier: BSD-3-Clause
"""Programs of MPICH's test suite that --check accuses or --strict hangs rightly, and why."""

# Accused by --check, each for something that it does.
ACCUSED = {
}

# Ended or changed by --strict: programs that rest on what the standard does not promise.
STRICT = {
    "comm/cmfree2": "rank 0 frees a communicator before MPI_Barrier, rank 1 after it: MPI_Comm_free may wait for all",
    "comm/comm_idup_overlap": "ranks free two communicators in different orders: MPI_Comm_free may wait for all",
}
