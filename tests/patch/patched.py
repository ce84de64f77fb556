# SPDX-License-Identifier: BSD-3-Clause
"""A patched Open MPI, and the programs of this folder built with it and run under its mpirun."""
import os
import pathlib
import subprocess

from support.conditions import communicate
from support.job import AS_ROOT

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


PREFIXES = {"4.1": "MPIQ_OMPI_41", "5.0": "MPIQ_OMPI_50"}


class Library:
    """A patched Open MPI."""

    def __init__(self, line, prefix, work):
        self.line = line
        self.prefix = pathlib.Path(prefix)
        self.work = work
        self.built = {}
        self.environment = {}

    def build(self, source, *options, compiler="mpicc"):
        """The program made of a source of this folder, built once."""
        key = (source, options)
        if key not in self.built:
            program = self.work / f"{pathlib.Path(source).stem}-{len(self.built)}"
            flags = ["-std=gnu17", "-Wall", "-Wextra"] if compiler == "mpicc" else []
            subprocess.run([self.prefix / "bin" / compiler, *flags, "-g", f"-I{ROOT / 'include'}",
                            HERE / source, *options, "-o", program, "-ldl", "-pthread"], check=True,
                           env={**os.environ, **self.environment})
            self.built[key] = program
        return self.built[key]

    def start(self, ranks, program, *arguments, mca=(), environment=None):
        """An mpirun under way; its output is on stdout, errors with it."""
        command = [self.prefix / "bin" / "mpirun", "-n", str(ranks), "--oversubscribe",
                   "--mca", "mpi_yield_when_idle", "1"]
        for name, value in mca:
            command += ["--mca", name, value]
        return subprocess.Popen([*command, program, *map(str, arguments)], text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                env={**os.environ, **AS_ROOT, **self.environment, **(environment or {})})

    def run(self, ranks, program, *arguments, timeout=120, **options):
        """The finished mpirun."""
        with self.start(ranks, program, *arguments, **options) as job:
            try:
                output = communicate(job, timeout, kill=job.terminate)[0] # not killed: mpirun takes its ranks along
            except subprocess.TimeoutExpired as error:
                raise AssertionError(f"not through after {timeout} s: {error.output}") from None
            return subprocess.CompletedProcess(job.args, job.returncode, output)

    def passes(self, ranks, program, *arguments, **options):
        """Runs a program that checks itself and must say that nothing failed."""
        done = self.run(ranks, program, *arguments, **options)
        assert done.returncode == 0, done.stdout
        assert " 0 failed" in done.stdout, done.stdout
