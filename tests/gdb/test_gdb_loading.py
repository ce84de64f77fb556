# SPDX-License-Identifier: BSD-3-Clause
"""How the commands come into gdb, and what they say of themselves."""
import os
import pathlib
import shutil
import subprocess

import pytest

import gdb_session
from hung_job import RANKS, HungJob
from support import conditions

PLUGIN = gdb_session.LOADER.parent
COMMANDS = ["attach", "collectives", "comms", "detach", "message", "queues", "rank", "ranks", "report",
            "snapshot", "stacks", "why"]


def loaded_library(pid):
    """The libmpi that a process has mapped, links resolved."""
    maps = pathlib.Path("/proc/%d/maps" % pid).read_text(encoding="utf-8")
    return next(line.split()[-1] for line in maps.splitlines() if "/libmpi.so" in line)


def test_source():
    said = gdb_session.run(["source %s" % gdb_session.LOADER, "help mpi"])
    for command in COMMANDS:
        assert "\nmpi %s -- " % command in said.out
    assert said.err == ""
    assert "mpi rank 1      goes to that rank" in said.out
    assert gdb_session.run(["mpi"]).out == gdb_session.run(["help mpi"]).out


def test_values_are_no_targets(mpiq, tmp_path):
    """mpiq's own list says which options another word follows."""
    file = tmp_path / "none.mpiq"
    for options in ("--stall-after 5", "--pause 1 --ranks 0", "--stall 5"):
        said = gdb_session.run([f"mpi report {options} {file}"], MPIQ=mpiq)
        assert said.err == f"mpiq: cannot open {file}: No such file or directory\n"


def test_help_of_each():
    """The first line is a sentence, and the usage follows."""
    for command in COMMANDS:
        help_text = gdb_session.run(["help mpi %s" % command]).out.splitlines()
        assert help_text[0].endswith("."), help_text
        assert help_text[1].startswith("Usage: mpi %s" % command), help_text
        assert max(map(len, help_text)) <= 90


def test_settings():
    said = gdb_session.run(["show mpi", "set mpi internal on", "set mpi stop on", "set mpi dll /lib/x.so",
                            "show mpi", "set mpi dll", "show mpi dll"], MPIQ="/bin/true")
    assert 'mpiq is "/bin/true".' in said.out
    assert "The message-queue DLL is mpiq's choice." in said.out
    assert "The MPI library's own traffic is not shown." in said.out
    assert "The MPI library's own traffic is shown." in said.out
    assert "Other ranks are stopped while they are read." in said.out
    assert 'The message-queue DLL is "/lib/x.so".' in said.out
    assert said.err == ""


def test_settings_are_passed_on(wire, hung):
    answer, _ = wire.ask([], pid=hung.pids[0], commands=["set mpi internal on", "set mpi stop on",
                                                         "set mpi dll /lib/x.so"])
    arguments = answer["arguments"]
    assert "--all" in arguments and "--stop" in arguments
    assert arguments[arguments.index("--dll") + 1] == "/lib/x.so"


def copy_libmpi(line, folder):
    """The line's libmpi in a folder of its own, whatever lies beside the line's."""
    library = folder / "prefix" / "lib"
    library.mkdir(parents=True)
    for file in line.prefix.glob("lib/libmpi.so.*"):
        if not file.name.endswith(".py"):
            shutil.copy(file, library, follow_symlinks=False)
    return library


def job_with(library, line, program):
    """A job that runs with a copied libmpi."""
    return HungJob(line, ["env", "LD_LIBRARY_PATH=%s" % library, program], RANKS)


@pytest.mark.usefixtures("own_build")
def test_loaded_with_libmpi(line, program, tmp_path):
    """gdb finds a link to the loader beside the library, and loads the commands once."""
    library = copy_libmpi(line, tmp_path)
    with job_with(library, line, program) as job:
        pids = job.stuck().pids
        loaded = loaded_library(pids[0])
        assert loaded.startswith(str(library)) # nothing is written beside another
        pathlib.Path(loaded + "-gdb.py").symlink_to(gdb_session.LOADER)
        said = gdb_session.run(["help mpi report", "add-inferior -no-connection", "inferior 2",
                                "attach %d" % pids[1], "help mpi why"], pid=pids[0], load=False,
                               before=["set auto-load safe-path %s:%s" % (library, PLUGIN)])
    assert "What is stuck in the MPI job, and why." in said.out, said.both
    assert "Why one rank waits" in said.out


@pytest.mark.usefixtures("own_build")
def test_beside_libmpi(line, program, tmp_path):
    """What beside-libmpi writes is loaded where gdb trusts the library's folder, and only there."""
    library = copy_libmpi(line, tmp_path)
    done = subprocess.run([PLUGIN / "beside-libmpi", library.parent], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("add-auto-load-safe-path %s\n" % library)
    with job_with(library, line, program) as job:
        pid = job.stuck().pids[1]
        assert loaded_library(pid).startswith(str(library))
        said = gdb_session.run(["help mpi report"], pid=pid, load=False,
                               before=["add-auto-load-safe-path %s" % library])
        assert "What is stuck in the MPI job, and why." in said.out, said.both
        said = gdb_session.run(["help mpi report"], pid=pid, load=False)
        assert "What is stuck" not in said.out
        assert "auto-loading has been declined" in said.err
    done = subprocess.run([PLUGIN / "beside-libmpi", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "there is no libmpi.so in" in done.stderr


def test_copied_loader_says_what_is_missing(tmp_path):
    shutil.copy(gdb_session.LOADER, tmp_path)
    said = gdb_session.run(["source %s/mpi.py" % tmp_path], load=False, PATH="/usr/bin:/bin")
    assert "the folder mpiq_gdb is not beside %s" % (tmp_path / "mpi.py") in said.err


def test_installed(tmp_path, wire, hung):
    """share/mpiq and bin/mpiq find each other, wherever they are."""
    shutil.copytree(PLUGIN, tmp_path / "share" / "mpiq")
    (tmp_path / "bin").mkdir()
    mpiq = tmp_path / "bin" / "mpiq"
    shutil.copy(gdb_session.CLIENT, mpiq)
    variables = wire.variables(["hello 1"])
    del variables["MPIQ"]
    said = gdb_session.run(["source %s/share/mpiq/mpi.py" % tmp_path, "show mpi mpiq", "mpi ranks"],
                           pid=hung.pids[0], load=False, **variables)
    assert 'mpiq is "%s".' % mpiq in said.out
    assert "ok 1 %d" % hung.pids[0] in said.out


def test_machine_interface(wire, hung):
    """A front end gets the text plain, as a stream of gdb's, and an error as an error."""
    commands = "-target-attach %d\n-interpreter-exec console \"mpi ranks\"\n-interpreter-exec console " \
               "\"mpi why\"\n-target-detach\n-gdb-exit\n" % hung.pids[1]
    variables = {**wire.variables(["hello 1"]), "TERM": "xterm"}
    command = ["gdb", "-nx", "-q", "-i=mi3", "-iex", "set debuginfod enabled off", "-iex",
               "source %s" % gdb_session.LOADER]
    done = conditions.run(command, seconds=gdb_session.SECONDS, input=commands,
                          env=gdb_session.environment(**variables))
    assert '~"{\\"arguments\\": [\\"ranks\\"' in done.stdout, done.stdout
    assert "^error,msg=\"mpi why needs a rank: mpi why 3\"" in done.stdout
    assert "\\033" not in done.stdout
    assert os.path.exists("/proc/%d" % hung.pids[1])


def test_completion(wire, hung):
    said = gdb_session.run(["complete mpi re", "complete mpi rank ", "complete mpi why 2"], pid=hung.pids[1],
                           **wire.variables())
    lines = said.out.splitlines()
    assert "mpi report" in lines
    assert ["mpi rank %d" % rank for rank in range(RANKS)] == [line for line in lines if line[:9] == "mpi rank "]
    assert "mpi why 2" in lines and "mpi why 3" not in lines
