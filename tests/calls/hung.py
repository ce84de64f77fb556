# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the corpus that hang, compiled for a library."""
import corpus

SAMPLE = ("point_to_point", "collectives", "nonblocking")
# Cases of a family in the sample.
MOST = 12


def programs(line, directory, every):
    """(case, executable) of each that hangs on that library; without `every` a few of three families."""
    chosen = {}
    for case in corpus.load():
        if case.healthy or case.two_hosts or not case.on(line) or not case.firsts:
            continue
        family = chosen.setdefault(case.family, [])
        if every or (case.family in SAMPLE and len(family) < MOST):
            family.append(case)
    for family, cases in chosen.items():
        executable = corpus.compile_family(line, family, directory) if cases else None
        for case in cases:
            yield case, executable
