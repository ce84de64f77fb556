#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reports of a 512-rank and of a 10^6-rank made-up hang: at most 50 lines, and every word of them right.

Usage: many_ranks.py JOB_BENCH.  All ranks but one are in MPI_Allreduce #7; that one, a third of the way through
them, waits for a tag that rank 0 never sends (bench/job_bench.c).  Matching, diagnosis and report are all real.
"""
import subprocess
import sys

MOST_LINES = 50

EXPECTED = """\
deadlock: none of the {ranks} ranks can continue (Open MPI 4.1.4, patched; all {ranks} ranks read)

1. Rank {lost} never entered the MPI_Allreduce that the other {others} ranks are waiting in.
     {all_but:{wide}}  MPI_Allreduce  solver.c:88 norm    1.0 s  collective 7 on MPI_COMM_WORLD
     {only:{wide}}  MPI_Recv       solver.c:71 refine  1.0 s  waits for tag 99 from rank 0, which is in that \
MPI_Allreduce
   Look at rank {lost} first.
"""


def report_of(program, ranks):
    done = subprocess.run([program, str(ranks), "report"], capture_output=True, text=True, check=True)
    return done.stdout.split("\n", 1)[1]


def main():
    wrong = 0
    for ranks in (512, 1000000):
        report = report_of(sys.argv[1], ranks)
        lost = ranks // 3
        most = f"0-{lost - 1},{lost + 1}-{ranks - 1}"
        wanted = EXPECTED.format(ranks=ranks, others=ranks - 1, lost=lost, only=f"rank {lost}",
                                 all_but=f"ranks {most}", wide=len(f"ranks {most}"))
        lines = report.count("\n")
        if lines > MOST_LINES or report != wanted:
            print(f"{ranks} ranks, {lines} lines:\n{report}\nwanted:\n{wanted}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
