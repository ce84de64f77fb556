# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts on one machine: peers whose names are all that is known of them, and 5.0's hierarchical collectives with
their hidden communicators."""

import os
import subprocess

import pytest

from live import HERE, PREFIXES, Job, communicator, our_dll, stock_dll
from test_live import HIDDEN, INTERNAL, WORLD
from test_stock import Reports

AGENT = str(HERE / "programs" / "other_host")


def start(line, case):
    if subprocess.run(["unshare", "-u", "hostname", "nodeb"], check=False, capture_output=True).returncode != 0:
        pytest.skip("a host name of one's own (unshare -u) is not permitted here")
    agent = ("--prtemca", "plm_ssh_agent") if line.startswith("5") else ("--mca", "plm_rsh_agent")
    return Job(line, case, 4, ("--host", os.uname().nodename + ":2,nodeb:2", "--map-by", "node", *agent, AGENT))


def check_names(reports):
    """By mpiq the members; in which order they are, by mqs_client."""
    assert reports.communicator("reversed")["members"] == "0-3"
    for rank in range(4):
        look = reports.at(rank)
        assert communicator(look, "MPI_COMM_WORLD")["group"] == [0, 1, 2, 3]
        assert communicator(look, "reversed")["group"] == [3, 2, 1, 0]


@pytest.mark.parametrize("line", list(PREFIXES))
def test_names_of_strangers(line):
    """A process that has not been spoken to is a number that spells its name; the release's own DLL compares pointers."""
    with start(line, "strangers") as job:
        check_names(Reports(job, our_dll()))
        if "unpatched" in line:
            with pytest.raises(AssertionError):
                check_names(Reports(job, stock_dll(line)))


@pytest.mark.parametrize("line", [line for line in PREFIXES if line.startswith("5")])
def test_hidden_communicators_of_han(line):
    with start(line, "blocking") as job:
        for rank in (0, 2, 3):
            look = job.look(our_dll(), rank, "--internal")
            world = communicator(look, "MPI_COMM_WORLD")
            assert world["flags"] == WORLD
            hidden = [comm for comm in look["communicators"] if comm["flags"] & HIDDEN]
            assert len(hidden) >= 2
            assert {comm["parent"] for comm in hidden} == {world["handle"]}
            others = [comm["name"] for comm in look["communicators"] if not comm["flags"] & HIDDEN]
            assert others == ["MPI_COMM_WORLD", "MPI_COMM_SELF"]
            inner = [op for comm in hidden for op in comm["receives"] if op["flags"] & INTERNAL]
            # A rank of the hidden communicator, told as a rank of the world.
            assert len(inner) == 1 and inner[0]["peer"] in range(4) and inner[0]["peer"] != rank
            if "unpatched" not in line:
                assert look["types_asked"] == 0
                (wait,) = look["waits"]
                assert wait["call"] == "MPI_Bcast"
                assert wait["collective_comm"] == world["handle"]
                assert wait["operations"][0]["request"] == inner[0]["request"]
                assert inner[0]["collective"] == "MPI_Bcast"
