# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries that jobs run on: Open MPI as we build it, patched or not, and libraries as distributions ship them.

The name of one of the latter is [ROOT:]LIBRARY[+HOW...], several separated by blanks:

  ROOT     a root made by tests/roots/root (bullseye, trixie, forky); without one, this machine's library
  LIBRARY  openmpi or mpich, or abi-openmpi or abi-mpich: programs built for MPI's standard ABI
  HOW      record: under the recorder.  ucx, ofi: Open MPI's PML ucx, or cm with the MTL ofi

NAME=PREFIX is an Open MPI that is installed in PREFIX, and for which the answers of NAME, one of all these, are right.
"""
import functools
import os
import pathlib
import shutil
import socket
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent # ready.h is there
ROOT = TESTS / "roots" / "root"

# Prefixes by release line, patched and not, as the environment gives them.
PREFIX_VARIABLES = {
    "4.1": "MPIQ_OMPI_41",
    "5.0": "MPIQ_OMPI_50",
    "4.1-stock": "MPIQ_OMPI_41_STOCK",
    "5.0-stock": "MPIQ_OMPI_50_STOCK",
    # The distribution's own, stripped: MPIQ_OMPI_DEBIAN=/usr.  Its release decides the line.
    "4.1-debian": "MPIQ_OMPI_DEBIAN",
}

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


class NotCompiled(Exception):
    """What the compiler said."""


class Line:
    """One installed Open MPI: a release line, patched or not."""

    def __init__(self, name, prefix):
        self.name = name
        self.prefix = pathlib.Path(prefix)
        self.release = name.split("-")[0]
        self.patched = "-" not in name
        self.distribution = name.endswith("-debian") # as it is shipped: stripped, not built by us
        self.recorded = False # under the recorder

    def command(self, program):
        """A program of this Open MPI; Debian's alternatives may point `mpirun` to another MPI library."""
        own = self.prefix / "bin" / (program + ".openmpi")
        return str(own if own.exists() else self.prefix / "bin" / program)

    def launch(self, ranks, exported, directory, two_hosts=False):
        """The words before the program: so many ranks, to which the named variables are handed on."""
        words = [self.command("mpirun"), "--oversubscribe", "-n", str(ranks)]
        for name in exported:
            words += ["-x", name]
        # Shared-memory files where we remove them, should the job end by force.
        shared = "btl_vader_backing_directory" if self.release == "4.1" else "btl_sm_backing_directory"
        words += ["--mca", shared, str(directory)]
        if two_hosts:
            agent = "--mca plm_rsh_agent" if self.release == "4.1" else "--prtemca plm_ssh_agent"
            words += [*agent.split(), str(HERE / "two_hosts_agent"), "--map-by", "node",
                      "--host", f"{socket.gethostname()}:{ranks},nodeb:{ranks}"]
        return words

    def compiler(self):
        """The words before a compiler's options."""
        return [self.command("mpicc")]

    def compile(self, sources, executable, *options):
        """Compiles with the prefix's mpicc unless the executable is newer than all it is made from."""
        sources = [pathlib.Path(source) for source in sources]
        folders = {TESTS, *(source.parent for source in sources)}
        made_from = sources + [header for folder in folders for header in folder.glob("*.h")]
        made_from += [file for file in map(pathlib.Path, self.compiler()) if file.exists()]
        executable = pathlib.Path(executable)
        newest = max(file.stat().st_mtime for file in made_from)
        if executable.exists() and executable.stat().st_mtime > newest:
            return executable
        executable.parent.mkdir(parents=True, exist_ok=True)
        command = [*self.compiler(), "-g", "-O1", "-fno-inline", "-fno-optimize-sibling-calls", "-Wall",
                   "-Wextra", "-pthread", f"-I{TESTS}", *options, "-o", str(executable), *map(str, sources),
                   "-lrt"] # timers, before glibc 2.34
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NotCompiled(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return executable


def lines():
    """The release lines that the environment names, as {name: Line}."""
    return {name: Line(name, os.environ[variable])
            for name, variable in PREFIX_VARIABLES.items() if os.environ.get(variable)}


def why_no_two_hosts():
    """None where a second host can be emulated, else the reason why not."""
    done = subprocess.run(["unshare", "--uts", "hostname", "nodeb"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"cannot emulate a second host: {done.stderr.strip()}"


class Library(Line):
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


class Prefix(Line):
    """One Open MPI in a prefix that a test run names, NAME=PREFIX: what is asked for there is what is asked of NAME."""

    def __init__(self, name, prefix):
        super().__init__(name, prefix)
        if not (self.prefix / "bin/mpirun").is_file():
            raise ValueError(f"{prefix} has no bin/mpirun: it is no installed Open MPI")
        if name not in PREFIX_VARIABLES:
            like = Library(name)
            self.release, self.patched, self.distribution = like.release, like.patched, like.distribution


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


def proves(name):
    """Whether more is read of a library than stacks and what calls were given: so not where its messages are kept by
    somebody whose memory mpiq does not know."""
    library, *how = name.rpartition(":")[2].split("+")
    return "record" in how or "mpich" not in library and not {"ucx", "ofi"} & set(how)


def line(name):
    """A line of ours, or a library as it is shipped, or NAME=PREFIX.  What is asked of a line of ours does not depend on
    whether it is here."""
    if "=" in name:
        return Prefix(*name.split("=", 1))
    if name in PREFIX_VARIABLES:
        return lines().get(name) or Line(name, "/nonexistent")
    return Library(name)


def for_most_tests():
    """Names of the lines that tests of what mpiq shows run on: this machine's Open MPI under the recorder, and those with
    the patch that the environment names."""
    names = [name for name, line_ in lines().items() if line_.patched]
    return (["openmpi+record"] if os.environ.get("MPIQ_OMPI_DEBIAN") else []) + names or ["4.1", "5.0"]


def quick():
    """Names of the lines of the quick tests: this machine's libraries with and without the recorder, and those with the
    patch that the environment names."""
    patched = [name for name, line_ in lines().items() if line_.patched]
    return ["4.1-debian", "openmpi+record", "mpich", "mpich+record"] + patched


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


def named(names):
    """The lines that a text names, of ours and as they are shipped; none named: ours and the sample."""
    return [line(name) for name in names.split()] or [*lines().values(), *sample()]
