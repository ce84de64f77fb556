# SPDX-License-Identifier: BSD-3-Clause
"""The options of tests/hangs/run, which pytest takes in this folder too."""

LINES = """libraries to run on, separated by blanks: 4.1, 5.0, 4.1-stock, 5.0-stock, 4.1-debian as the environment names
them (MPIQ_OMPI_41, ...), or a library as it is shipped, [ROOT:]LIBRARY[+HOW...], such as mpich+record or trixie:openmpi,
or 4.1=PREFIX, an Open MPI in PREFIX that is to answer as 4.1 does (tests/support/libraries.py says more);
default: those that are there"""

OPTIONS = {
    "--lines": {"default": "", "metavar": "'NAME...'", "help": LINES},
    "--part": {"choices": ["quick", "usual", "full"], "default": "usual",
               "help": "quick: some cases, on patched and shipped libraries; usual: every case on libraries that we build,"
                       " some on shipped ones (default); full: every case, on shipped libraries too if --lines names them"},
    "--looks": {"type": int, "metavar": "N", "help": "how many looks at each program that does not hang (4; full: 50)"},
    "--again": {"type": int, "default": 0, "metavar": "N",
                "help": "look N more times at each hung program after the right answer: none may say `running`"},
    "--jobs": {"type": int, "metavar": "N",
               "help": "how many jobs at a time (one more than there are processors, at most 4; under `mpiq run`: 2)"},
    "--results": {"metavar": "FILE", "help": "keep results in this file, beside those of earlier runs"},
    "--missing": {"action": "store_true", "help": "run only what --results has no result of: an ended run goes on"},
    "--failures": {"metavar": "FILE", "help": "write every wrong answer to this file, with what was expected"},
    "--run": {"default": "", "metavar": "'FAMILY...'",
              "help": "under `mpiq run`, programs of these families, or all of them: full (takes hours); default: a sample"},
}


def add_to(add):
    """Declares them by add(name, **words), which both argparse and pytest have."""
    for name, words in OPTIONS.items():
        add(name, **words)
