# SPDX-License-Identifier: BSD-3-Clause
"""What the report says of MPI libraries as Debian ships them: which file, which level, what is not known and why."""
import re
import shutil

import pytest

import corpus
from support import job as jobs
from support import libraries


@pytest.fixture(name="case")
def fixture_case(programs):
    """Starts a case of the corpus on a library; case(library, name) gives the job once it stands still."""
    started = []

    def start(name, case_name):
        line = libraries.Library(name)
        if not shutil.which(line.command("mpirun")) or not shutil.which(line.command("mpicc")):
            pytest.skip(f"{line.command('mpirun')} or {line.command('mpicc')} is not installed")
        case = next(case for case in corpus.load() if case.name == case_name)
        executable = corpus.compile_family(line, case.family, programs)
        started.append(jobs.Job(line, [executable, case.program], case.ranks))
        started[-1].wait_ready()
        started[-1].stand_still()
        return started[-1]

    yield start
    for job in started:
        job.end()


@pytest.mark.parametrize("library, release, file, level", [
    ("openmpi", r"Open MPI 4\.\d+\.\d+", r"/libmpi\.so\.", "layouts"),
    ("openmpi+record", r"Open MPI 4\.\d+\.\d+", r"/libmpi\.so\.", "recorder"),
    ("mpich+record", r"MPICH \d\.\d", r"/libmpich\.so\.", "recorder"),
    ("mpich", r"MPICH \d\.\d", r"/libmpich\.so\.", "calls")])
def test_first_line_names_library_and_level(case, mpiq, library, release, file, level):
    job = case(library, "wrong_tag")
    first = mpiq(job.pid).out.splitlines()[0]
    assert re.search(rf"\({release}\S* in /\S*{file}", first), first
    answer = mpiq("--json", job.pid).json
    assert answer["job"]["source"] == level
    assert re.search(file, answer["job"]["library"])
    assert level in first


@pytest.mark.parametrize("how, pml", [("ucx", "ucx"), ("ofi", "cm")])
def test_pml_that_keeps_its_own_queues(case, mpiq, how, pml):
    job = case(f"openmpi+{how}", "wrong_tag")
    answer = mpiq(job.pid)
    assert answer.status == 3
    assert f"Message queues are not known: PML {pml} keeps its own." in answer.out
    assert f"no information: PML {pml}" in mpiq("queues", job.pid).out


def test_a_rank_that_died_is_of_the_recorded_job(case, mpiq):
    """It is known by its launcher alone, which calls the job otherwise than the recorder does."""
    answer = mpiq("--json", case("mpich+record", "receive_from_the_dead").pid)
    assert answer.json["verdict"] == "deadlock", answer.out
    assert (answer.json["findings"][0]["kind"], answer.json["findings"][0]["ranks"]) == ("rank_gone", "1")
    assert answer.json["job"]["size"] == 2


@pytest.mark.parametrize("case_name", ["bcast_wrong_root", "large_sends_in_a_ring_3"])
def test_what_open_mpi_says_itself_counts_under_the_recorder(case, mpiq, case_name):
    """The recorder sees neither what goes on inside a collective, nor whether a standard send is complete."""
    job = case("openmpi+record", case_name)
    # On a busy machine a rank may get no processor between two looks, and is then not seen polling.
    answer = mpiq.until(lambda answer: answer.json["verdict"] == "deadlock", job.pid)
    assert answer.json["job"]["source"] == "recorder"
    assert "unexpected" in mpiq("queues", "--all", job.pid).out.lower()


def test_nothing_is_called_done_that_is_not_known_to_be(case, mpiq):
    """The recorder does not know which requests of an MPI_Waitall are complete: this send is not."""
    answer = mpiq(case("mpich+record", "persistent_send_never_received").pid)
    assert answer.status == 1
    assert "MPI_Waitall" in answer.out and "is done" not in answer.out
