# SPDX-License-Identifier: BSD-3-Clause
"""An MPI library that mpiq knows nothing about: MPICH as Debian ships it, stripped, this machine's and those of the
roots that have been made (tests/roots).  Each rank's call and line."""
import ast
import os
import pathlib
import shutil
import subprocess
import uuid

import pytest

from support import libraries
from support.conditions import ended
from support.harmless import kill_marked

HERE = pathlib.Path(__file__).resolve().parent
UNPACKED = pathlib.Path(os.environ.get("MPIQ_MPICH", "/")) # where this machine's Debian packages are unpacked

# A root: the release of its MPICH, where the library tells that.
RELEASES = {"": "MPICH 4.", "bullseye": "MPICH 3.4.1", "trixie": "MPICH", "forky": "MPICH"}


class Here:
    """This machine's MPICH."""
    libraries = UNPACKED / "usr/lib/x86_64-linux-gnu"
    includes = UNPACKED / "usr/include/x86_64-linux-gnu/mpich"
    launcher = [UNPACKED / "usr/bin/mpiexec.hydra"]
    enter = []
    environment = {"LD_LIBRARY_PATH": str(libraries)}

    def __init__(self):
        if not self.launcher[0].exists() or not (self.includes / "mpi.h").exists():
            pytest.skip("no MPICH of Debian's here (mpich, libmpich-dev), nor in MPIQ_MPICH")

    def compiler(self, language):
        compiler = {"c": "gcc", "f90": "gfortran"}[language]
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler} here")
        return [compiler, f"-I{self.includes}"]

    def options(self, language):
        return [f"-L{self.libraries}", f"-Wl,-rpath-link={self.libraries}",
                *(["-lmpichfort"] if language == "f90" else []), "-lmpich"]


class Root:
    """The MPICH of another release of Debian's."""
    environment = {}

    def __init__(self, name):
        made = subprocess.run([libraries.ROOT, "path", name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if not os.path.isdir(made) or os.geteuid() != 0:
            pytest.skip(f"there is no {made} (tests/roots/root make {name}), or this is not root")
        self.enter = [libraries.ROOT, "enter", name]
        self.launcher = [*self.enter, "mpirun.mpich"]

    def compiler(self, language):
        return [*self.enter, {"c": "mpicc.mpich", "f90": "mpif90.mpich"}[language]]

    def options(self, _language):
        return []


@pytest.fixture(name="mpich", params=RELEASES, ids=lambda name: name or "here")
def fixture_mpich(request):
    place = Root(request.param) if request.param else Here()
    place.release = RELEASES[request.param]
    return place


def build(mpich, source, target):
    language = source.suffix[1:]
    modules = [f"-J{target.parent}"] if language == "f90" else []
    subprocess.run([*mpich.compiler(language), "-g", "-O1", *modules, source, "-o", target, *mpich.options(language)],
                   check=True)
    return target


class Job:
    """Three ranks under Hydra, in a session of their own."""

    def __init__(self, mpich, program, *arguments):
        self.mark = f"mpiq-{uuid.uuid4().hex}"
        environment = {**os.environ, **mpich.environment, "MPIQ_TEST_JOB": self.mark}
        self.process = subprocess.Popen([*mpich.launcher, "-n", "3", program, *arguments], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        kill_marked(self.mark) # Python in a call of C's hears no SIGINT of Hydra's
        ended(self.process)


def line_of(source, what):
    return next(number for number, line in enumerate(source.read_text().splitlines(), 1) if what in line)


def settled(mpiq, job, calls):
    """The answer once each rank is where it stays."""
    return mpiq.until(lambda answer: [rank.get("call", "") for rank in answer.json["ranks"]] == calls, job.process.pid)


@pytest.mark.parametrize("name, function", [("hang_mpich.c", "mpi_exchange"), ("hang_mpif.f90", "hang"),
                                            ("hang_f08.f90", "exchange")])
def test_each_ranks_call_and_line(mpiq, mpich, tmp_path, name, function):
    source = HERE / name
    program = build(mpich, source, tmp_path / source.stem)
    with Job(mpich, program) as job:
        answer = settled(mpiq, job, ["MPI_Barrier", "MPI_Recv", "MPI_Barrier"])
    assert answer.status == 3
    assert answer.json["verdict"] == "unknown"
    assert answer.json["job"]["mpi"].startswith(mpich.release)
    assert answer.json["job"]["source"] == "calls"
    assert answer.json["job"]["size"] == 3
    barrier, receive = line_of(source, "line of the barrier"), line_of(source, "line of the receive")
    assert [(rank["rank"], rank["call"], rank["site"]["line"], rank["site"]["function"])
            for rank in answer.json["ranks"]] == [
        (0, "MPI_Barrier", barrier, function), (1, "MPI_Recv", receive, function), (2, "MPI_Barrier", barrier, function)]


PYTHON = "/usr/bin/python3" # the one that Debian's packages belong to
BINDINGS = pathlib.Path(os.environ.get("MPIQ_MPICH_MPI4PY", "/nowhere"))


def python_of(mpich):
    """The release of that place's Python, as (3, 11)."""
    return ast.literal_eval(subprocess.run([*mpich.enter, PYTHON, "-c", "import sys; print(sys.version_info[:2])"],
                                           stdout=subprocess.PIPE, text=True, check=True).stdout)


@pytest.mark.parametrize("binding", ["ctypes", "mpi4py"])
def test_each_ranks_python_line(mpiq, mpich, binding, request):
    """A program in Python: 3.9 in bullseye, 3.11 here, 3.13 in trixie, 3.14 in forky.  Debian's mpi4py is Open MPI's."""
    source = HERE / "hang_mpich.py"
    receiving = "MPI_Recv"
    if binding == "mpi4py":
        place = BINDINGS / request.node.callspec.id.split("-")[0]
        if not place.is_dir():
            pytest.skip(f"no {place}: MPIQ_MPICH_MPI4PY names no folder that has an mpi4py built for this MPICH in it")
        mpich.environment = {**mpich.environment, "PYTHONPATH": str(place)}
        if "__version__ = '3." not in (place / "mpi4py/__init__.py").read_text(encoding="ascii"):
            receiving = "MPI_Recv_c"
    with Job(mpich, PYTHON, source, binding) as job:
        answer = settled(mpiq, job, ["MPI_Barrier", receiving, "MPI_Barrier"])
    assert answer.status == 3
    assert (answer.json["verdict"], answer.json["job"]["source"]) == ("unknown", "calls")
    class_ = {"ctypes": "ByCtypes", "mpi4py": "ByMpi4py"}[binding]
    prefix = f"{class_}." if python_of(mpich) >= (3, 11) else "" # code has had its qualified name since
    barrier = ("MPI_Barrier", line_of(source, f"line of the barrier, {binding}"), f"{prefix}barrier")
    receive = (receiving, line_of(source, f"line of the receive, {binding}"), f"{prefix}receive")
    assert [(rank["call"], rank["site"]["line"], rank["site"]["function"]) for rank in answer.json["ranks"]] == [
        barrier, receive, barrier]
    assert {os.path.basename(rank["site"]["file"]) for rank in answer.json["ranks"]} == {source.name}


def test_mpiq_alone_finds_the_job(mpiq, mpich, tmp_path):
    program = build(mpich, HERE / "hang_mpich.c", tmp_path / "hang")
    with Job(mpich, program) as job:
        settled(mpiq, job, ["MPI_Barrier", "MPI_Recv", "MPI_Barrier"])
        answer = mpiq()
    if "several MPI jobs" in answer.err:
        pytest.skip("other MPI jobs run on this machine")
    assert answer.status == 3
    assert "MPI_Recv" in answer.out and "MPI_Barrier" in answer.out


def test_a_job_that_computes_runs(mpiq, mpich, tmp_path):
    source = HERE / "hang_mpich.c"
    program = build(mpich, source, tmp_path / "compute")
    with Job(mpich, program, "compute") as job:
        answer = mpiq.until(lambda answer: answer.status == 0 and all(rank.get("site", {}).get("function") == "mpi_work"
                                                             for rank in answer.json["ranks"]), job.process.pid)
    assert [(rank["state"], rank["site"]["function"]) for rank in answer.json["ranks"]] == [("computing", "mpi_work")] * 3
