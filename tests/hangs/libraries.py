# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries as distributions ship them, as lines of the corpus: MPIQ_CORPUS_LINES names those to run.

A name is [ROOT:]LIBRARY[+HOW...], several separated by blanks:

  ROOT     a root made by tests/roots/root (bullseye, trixie, forky); without one, this machine's library
  LIBRARY  openmpi or mpich, or abi-openmpi or abi-mpich: programs built for MPI's standard ABI
  HOW      record: under the recorder.  ucx, ofi: Open MPI's PML ucx, or cm with the MTL ofi
"""
import functools
import os
import pathlib
import shutil
import subprocess
import threading

import job as jobs

ROOT = jobs.TESTS / "roots" / "root"

SYSTEM = "/usr/lib/x86_64-linux-gnu"

# What decides which cases a library has, and how it is told where its files go: as this line of Open MPI.
RELEASES = {("", "openmpi"): "4.1", ("", "mpich"): "5.0", ("bullseye", "openmpi"): "4.1",
            ("bullseye", "mpich"): "4.1"}

OPTIONS = {
    "ucx": ["--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any"],
    "ofi": ["--mca", "pml", "cm", "--mca", "mtl", "ofi"],
}


# One job compiles a root's recorder; the others wait for it.
compiling = threading.Lock()


class Library(jobs.Line):
    """One library as it is shipped, in a root or here, under the recorder or not."""

    def __init__(self, name):
        super().__init__(name, "/usr")
        self.root, _, rest = name.rpartition(":")
        library, *self.how = rest.split("+")
        self.abi, self.library = library.startswith("abi-"), library.removeprefix("abi-")
        self.release = RELEASES.get((self.root, self.library), "5.0")
        self.patched = False
        self.distribution = not self.how
        self.recorded = "record" in self.how

    def enter(self):
        return [str(ROOT), "enter", self.root] if self.root else []

    def command(self, program):
        return f"{program}.{self.library}"

    def compiler(self):
        if not self.abi:
            return [*self.enter(), self.command("mpicc")]
        # Both libraries are called libmpi_abi.so.1: the program finds the one that it was linked with.
        include = {"openmpi": "openmpi/include/standard_abi", "mpich": "mpi_abi_mpich/include"}[self.library]
        return [*self.enter(), "gcc", f"-I{SYSTEM}/{include}", "-Wl,--no-as-needed",
                f"{SYSTEM}/libmpi_abi_{self.library}.so.1.0.0", f"-Wl,-rpath,/opt/mpiq/abi-{self.library}"]

    def launch(self, ranks, exported, directory, two_hosts=False):
        if self.library == "mpich":
            words = [*self.enter(), self.command("mpirun"), "-n", str(ranks)]
            return words + (["-genv", "LD_PRELOAD", recorder(self.root)] if self.recorded else [])
        words = self.enter() + super().launch(ranks, exported, directory, two_hosts)
        for how in self.how:
            words += OPTIONS.get(how, [])
        return words + (["-x", "LD_PRELOAD=" + recorder(self.root)] if self.recorded else [])


def recorder(root):
    """The preload library that runs in a root, or here."""
    if not root:
        return str(pathlib.Path(os.environ["MPIQ_BUILD"]) / "recorder/libmpiq_record.so")
    with compiling:
        return recorder_of_root(root)


@functools.lru_cache(maxsize=None)
def recorder_of_root(root):
    done = subprocess.run([ROOT, "recorder", root], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def line(name):
    """A line of job.py's, or a library as it is shipped."""
    return jobs.lines().get(name) or Library(name)


def sample():
    """Those that are run where none is named: this machine's under the recorder, and of the roots, those that have been
    made: Open MPI 5.0.7 and MPICH of trixie, Open MPI 6.0.0rc2 of forky."""
    found = []
    if os.environ.get("MPIQ_OMPI_DEBIAN"):
        found += ["openmpi+record", "openmpi+ucx+record", "openmpi+ofi+record"]
        found += ["mpich+record"] if shutil.which("mpirun.mpich") else []
    for root, names in (("trixie", ["openmpi", "openmpi+record", "mpich+record"]), ("forky", ["openmpi"])):
        made = subprocess.run([ROOT, "path", root], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if os.path.isdir(made) and os.geteuid() == 0:
            found += [f"{root}:{name}" for name in names]
    return [Library(name) for name in found]


def named():
    """The lines that MPIQ_CORPUS_LINES names, of those in job.py and of these; none named: job.py's and the sample."""
    names = os.environ.get("MPIQ_CORPUS_LINES", "").split()
    if not names:
        return [*jobs.lines().values(), *sample()]
    return [line(name) for name in names]
