# SPDX-License-Identifier: BSD-3-Clause
"""Which rank of which MPI_COMM_WORLD an inferior is, as its launcher said it in the environment."""

import gdb

from . import environment, inferiors

# Launchers put the rank into the environment of the processes; the standard has no other way.
_RANK_VARIABLES = ("PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_SIZE_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")


def _first_number(inferior, names):
    for name in names:
        try:
            text = environment.variable(inferior, name)
        except (OSError, gdb.error):
            return None
        if text is not None and text.isdigit():
            return int(text)
    return None


def rank_of(inferior):
    """The inferior's rank in its MPI_COMM_WORLD as its launcher said it, or None."""
    return _first_number(inferior, _RANK_VARIABLES)


def size_of(inferior):
    """The size of its MPI_COMM_WORLD as its launcher said it, or None."""
    return _first_number(inferior, _SIZE_VARIABLES)


def namespace_of(inferior):
    """The name of its job, which ranks of two jobs do not share; "" if not known."""
    try:
        return environment.variable(inferior, "PMIX_NAMESPACE") or ""
    except (OSError, gdb.error):
        return ""


def of_rank(rank, like):
    """The attached inferior that is that rank of the job of `like`, or None."""
    job = namespace_of(like) if like is not None else None
    for inferior in inferiors.attached():
        if rank_of(inferior) == rank and (job is None or namespace_of(inferior) == job):
            return inferior
    return None
