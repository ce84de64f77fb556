# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own test suite: its source, its programs built with another MPI, its lists of tests."""

import collections
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = ("mpich", "4.0.2-3", "bookworm")
LISTS = ["attr", "coll", "comm", "init", "pt2pt", "threads", "topo"]
# Of the threads list, the folders that belong to what is looked at here.
THREADS = ["pt2pt", "comm", "init", "coll"]

# Names that MPI 3.0 removed are errors in Open MPI's header; the suite's own library uses three of them.
REMOVED = " ".join(["-DOMPI_OMIT_MPI1_COMPAT_DECLS=1", "-DMPI_Type_hvector=MPI_Type_create_hvector",
                    "-DMPI_Type_hindexed=MPI_Type_create_hindexed", "-DMPI_Type_struct=MPI_Type_create_struct"])

# One line of a list. options: what stands behind the number of ranks, by name; args are in their order.
Test = collections.namedtuple("Test", "folder program ranks args options")


def say(text):
    print(f"conformance: {text}", file=sys.stderr, flush=True)


def logged(command, log, **options):
    """Runs a command into a log; whether it went well."""
    with open(log, "a", encoding="utf-8") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                              **options).returncode == 0


def source(cache):
    """The suite, unpacked; fetched if need be."""
    target = cache / "conformance" / f"mpich-{PACKAGE[1]}"
    if not (target / "test" / "mpi" / "configure").exists():
        say(f"fetching MPICH's source package {PACKAGE[1]}")
        done = subprocess.run([ROOT / "ompi-patch" / "debian-source", *PACKAGE, cache / "sources"], text=True,
                              stdout=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit("conformance: no test suite without MPICH's source")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        subprocess.run(["tar", "-xf", done.stdout.strip(), "-C", target, "--strip-components=1", "--wildcards",
                        "*/test/mpi"], check=True)
        subprocess.run(["chmod", "-R", "u+w", target], check=True)
    return target / "test" / "mpi"


class Programs:
    """The suite built once with one mpicc; the library, or what is preloaded, is chosen when a program runs."""

    def __init__(self, cache, prefix, environment, name=None, flags=REMOVED):
        self.prefix = prefix
        self.environment = environment
        self.flags = flags
        self.suite = source(cache)
        self.path = cache / "conformance" / (name or prefix.name)
        self.log = self.path / "build.log"

    def configure(self):
        done = self.path / ".configured"
        if done.exists():
            return
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        say(f"configuring the suite for {self.path.name}")
        if not logged([self.suite / "configure", f"--with-mpi={self.prefix}", "--disable-fortran", "--disable-cxx",
                       "--disable-romio", "CFLAGS=-O1 -w", f"CPPFLAGS={self.flags}"], self.log, cwd=self.path,
                      env=self.environment):
            sys.exit(f"conformance: the suite's configure failed: {self.log} says why")
        for folder in ("dtpools", "util"):
            if not logged(["make", "-C", folder], self.log, cwd=self.path, env=self.environment):
                sys.exit(f"conformance: the suite's {folder} does not compile: {self.log} says why")
        done.touch()

    def build(self, folder, jobs):
        """Compiles a folder's programs; those that do not compile are not there afterwards."""
        done = self.path / folder / ".built"
        if done.exists():
            return
        say(f"compiling {folder} for {self.path.name}")
        logged(["make", "-k", f"-j{jobs}", "-C", folder], self.log, cwd=self.path, env=self.environment)
        done.touch()

    def tests(self, name):
        """What a list says, without what is the same for another MPI: variables of MPICH's own."""
        folders = [f"threads/{part}" for part in THREADS] if name == "threads" else [name]
        seen = set()
        for folder in folders:
            for test in self._folder(folder):
                if test[:4] not in seen:
                    seen.add(test[:4])
                    yield test

    def _folder(self, folder):
        path = self.path / folder / "testlist"
        if not path.exists():
            path = self.suite / folder / "testlist"
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split("#")[0].split()
            if not words or words[0].startswith("@"):
                continue
            ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 2
            options = dict(word.split("=", 1) for word in words[1:] if re.match(r"\w+=", word))
            args = tuple(word[4:] for word in words if word.startswith("arg="))
            yield Test(folder, words[0], ranks, args, options)

    def program(self, test):
        return self.path / test.folder / test.program
