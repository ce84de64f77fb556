# SPDX-License-Identifier: BSD-3-Clause
"""What tests of several folders share.

libraries     the MPI libraries that jobs run on
job           a real job of one of them
solver_job    the example solver as one
harmless      that a job goes on undisturbed
conditions    waiting, with deadlines that suit the machine
answers       mpiq at work, and what it says
schema        the published schema of its JSON
built         what the build directory has
call_records  what calls were given, against what the recorder saw of them
"""
