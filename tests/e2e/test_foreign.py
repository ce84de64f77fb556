# SPDX-License-Identifier: BSD-3-Clause
"""A program that was not written for these tests: Open MPI's own ring, out of its source package."""
import tarfile

import pytest

RING = "examples/ring_c.c"

# Rank 2 is stopped before it even becomes the program.
LATE = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then kill -STOP $$; fi; exec "$0"'


@pytest.fixture(scope="module")
def ring(line, programs):
    """The ring, compiled as its users do."""
    packages = sorted((line.prefix.parent.parent / "sources").glob(f"openmpi_{line.release}*.orig.tar.*"))
    if not packages:
        pytest.skip(f"no source package of Open MPI {line.release} in {line.prefix.parent.parent / 'sources'}")
    source = programs / line.name / "ring_c.c"
    source.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(packages[0]) as archive:
        for member in archive:
            if member.name.endswith(RING):
                source.write_bytes(archive.extractfile(member).read())
                break
    return line.compile([source], programs / line.name / "ring_c")


def test_ring_that_runs_to_its_end(ring, start):
    job = start([ring], 4)
    assert job.wait(60) == 0
    assert "Process 3 exiting" in job.output()


def test_ring_with_a_rank_that_never_begins(ring, start, mpiq):
    job = start(["sh", "-c", LATE, ring], 4)
    stopped = job.wait_for_state(1, "T")
    answer = mpiq.until(lambda answer: answer.json["verdict"] != "running", job.pid) # the others come to MPI_Init yet
    assert answer.status == 4, answer.out + answer.err
    assert answer.json["verdict"] == "stalled"
    cause, consequence = answer.json["findings"]
    assert (cause["kind"], cause["ranks"]) == ("rank_stopped", "2")
    assert (consequence["kind"], consequence["missing"]) == ("collective_incomplete", "2")
    assert consequence["consequence_of"] == 0
    ranks = {rank["rank"]: rank for rank in answer.json["ranks"]}
    assert ranks[2]["pid"] == stopped[0]
    assert {ranks[rank].get("call") for rank in (0, 1, 3)} == {"MPI_Init"}
