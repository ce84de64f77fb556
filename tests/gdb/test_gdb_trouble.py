# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong ends in a sentence, and leaves gdb and the job unharmed."""
import os
import pathlib
import re
import signal
import subprocess

import pytest

import gdb_session
from hung_job import RANKS, HungJob
from support import libraries
from support.conditions import communicate, wait_until
from support.job import process_state

# gdb waits until a process has ended, though its parent may not have asked for it.
ENDED = "shell until grep -qs ^State:.Z /proc/%d/status || ! test -d /proc/%d; do sleep 0.02; done"


def children_of(pid):
    """Processes that a gdb has started with a session of their own: mpiq, not what gdb forks to try ptrace."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parent, session = int(fields[1]), int(fields[3])
        if parent == pid and session == int(stat.parent.name):
            found.append(int(stat.parent.name))
    return found


def is_gone(pid):
    try:
        stat = pathlib.Path("/proc/%d/stat" % pid).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def is_free(pid):
    """Whether a process runs and nobody traces it."""
    status = pathlib.Path("/proc/%d/status" % pid).read_text(encoding="utf-8")
    return "TracerPid:\t0" in status and "State:\tT" not in status and "State:\tt" not in status


ALIVE = "echo gdb is alive\\n"


def test_mpiq_killed(wire, hung):
    pid = hung.pids[1]
    said = gdb_session.run(["mpi report", ALIVE, "frame function main"], pid=pid,
                           **wire.variables(behaviour="die"))
    assert "mpiq was ended by SIGKILL before it had an answer; the job is unchanged" in said.err
    assert "gdb is alive" in said.out
    assert "main (" in said.out
    assert is_free(pid)


def test_malformed_requests_on_the_wire_are_an_error(wire, hung):
    said = gdb_session.run(["mpi ranks", ALIVE], pid=hung.pids[1], **wire.variables(behaviour="garbage"))
    assert "mpiq sent something that is not a request" in said.err
    assert "of the same version" in said.err
    assert "gdb is alive" in said.out
    assert is_gone(int(wire.pid_file.read_text()))


def test_what_mpiq_started_is_not_waited_for(wire, hung):
    said = gdb_session.run(["mpi ranks", ALIVE], pid=hung.pids[1], **wire.variables(behaviour="heir"))
    assert "the answer\n" in said.out
    assert "gdb is alive" in said.out


def test_message_of_mpiq_is_the_error(wire, hung):
    catch = "python\ntry:\n gdb.execute('mpi ranks')\nexcept gdb.error as e:\n print('<%s>' % e)"
    said = gdb_session.run([catch], pid=hung.pids[1], **wire.variables(behaviour="nothing"))
    assert "<mpiq: process 1 is no MPI process>" in said.out


def test_interrupt(wire, hung):
    """^C while mpiq works: gdb gets the signal, mpiq is ended."""
    pid = hung.pids[1]
    command = gdb_session.command_line(["mpi ranks", ALIVE, "info threads"])
    command[4:4] = ["-p", str(pid)]
    variables = gdb_session.environment(**wire.variables(behaviour="hang"))
    with subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as gdb:
        try:
            wait_until(lambda: wire.pid_file.exists() and wire.pid_file.read_text().endswith("\n"),
                     "mpiq was not started")
            gdb.send_signal(signal.SIGINT)
            out, _ = communicate(gdb)
        finally:
            gdb.kill()
    assert "interrupted: mpiq has been ended, the job is unchanged" in out
    assert "gdb is alive" in out
    assert "wrong_turn" in out.split("gdb is alive")[1]
    assert "Traceback" not in out
    assert is_gone(int(wire.pid_file.read_text()))
    assert is_free(pid)


def test_gdb_killed(wire, hung):
    """A killed gdb leaves the job as it was, and no mpiq that waits for it."""
    pid = hung.pids[1]
    command = gdb_session.command_line(["mpi ranks"])
    command[4:4] = ["-p", str(pid)]
    variables = gdb_session.environment(**wire.variables(behaviour="hang"))
    with subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as gdb:
        try:
            wait_until(lambda: wire.pid_file.exists() and wire.pid_file.read_text().endswith("\n"),
                     "mpiq was not started")
        finally:
            gdb.kill()
            gdb.wait()
    client = int(wire.pid_file.read_text())
    os.kill(client, signal.SIGKILL) # this one sleeps and so does not see that its wire has ended
    wait_until(lambda: is_free(pid), "rank 1 does not run on")


@pytest.mark.parametrize("command", ["report", "why 1", "collectives", "queues", "comms", "ranks",
                                     "snapshot x", "rank 1", "attach", "attach --all"])
def test_nothing_attached(wire, command):
    said = gdb_session.run(["mpi " + command, ALIVE], **wire.variables())
    assert "gdb has no process here: " in said.err
    assert "attach" in said.err
    assert "gdb is alive" in said.out


def test_running_inferior(wire, own_hung):
    """(gdb 13 leaves such a process stopped when it ends: the job is not for others.)"""
    said = gdb_session.run(["set confirm off", "continue &", "mpi report", "mpi rank 1", ALIVE],
                           pid=own_hung.pids[1], **wire.variables())
    assert said.err.count("inferior 1 is running: stop it first (^C or interrupt), then ask again") == 2
    assert "gdb is alive" in said.out


def test_no_descriptors_left(wire, hung, tmp_path):
    few = "python import os, resource; resource.setrlimit(resource.RLIMIT_NOFILE, (%s, 4096))"
    used = "int(max(os.listdir('/proc/self/fd'), key=int)) + 3"
    said = gdb_session.run([few % used, "mpi report", "mpi ranks", ALIVE], pid=hung.pids[1], TMPDIR=tmp_path,
                           **wire.variables())
    assert not list(tmp_path.glob("mpiq-gdb-*"))
    assert said.err.count("1 inferior cannot be served to mpiq: Too many open files (ulimit -n raises") == 2
    assert "gdb is alive" in said.out


def test_no_temporary_folder(wire, hung):
    said = gdb_session.run(["mpi report", ALIVE], pid=hung.pids[1],
                           before=["python import tempfile; tempfile.tempdir = '/proc'"], **wire.variables())
    assert "cannot make a folder for what mpiq reads: " in said.err
    assert "gdb is alive" in said.out


def test_no_mpiq(hung):
    said = gdb_session.run(["mpi report", ALIVE], pid=hung.pids[1], PATH="/usr/bin:/bin")
    assert "mpiq is not on PATH: set its path with set mpi mpiq PATH" in said.err
    assert "gdb is alive" in said.out


def test_a_path_that_is_not_mpiq_is_refused(hung, tmp_path):
    said = gdb_session.run(["set mpi mpiq %s" % tmp_path, "mpi report", "show mpi mpiq", ALIVE],
                           pid=hung.pids[1])
    assert "%s is not a program: set the path of mpiq with set mpi mpiq PATH" % tmp_path in said.err
    assert "gdb is alive" in said.out


@pytest.mark.parametrize("command, sentence", [
    ("mpi why", "mpi why needs a rank: mpi why 3"),
    ("mpi snapshot", "mpi snapshot needs a file: mpi snapshot job.mpiq"),
    ("mpi rank x", "mpi rank takes one rank: mpi rank 3"),
    ("mpi report /nowhere/core.*", "there is no file called /nowhere/core.*"),
    ("mpi detach", "no rank is attached by mpi attach or mpi rank"),
    ("mpi detach 1", "none of these ranks is attached by mpi attach or mpi rank"),
    ("mpi nothing", "Undefined mpi command: \"nothing\""),
    ("mpi attach 3-1", "3-1 is not a range of ranks"),
    ("mpi attach what", "'what' is not a list of ranks such as 0-3,7 or 0-46:2"),
])
def test_wrong_usage(wire, hung, command, sentence):
    said = gdb_session.run([command, ALIVE], pid=hung.pids[1], **wire.variables())
    assert sentence in said.err
    assert "gdb is alive" in said.out


def test_running_inferior_of_a_non_stop_session(wire, own_hung):
    """gdb has the prompt while the rank runs, as front ends have it."""
    said = gdb_session.run(["attach %d &" % own_hung.pids[1], "shell sleep 1", "continue &", "mpi report",
                            "mpi message 1", "print $mpi_rank()", ALIVE],
                           before=["set non-stop on", "set mi-async on"], **wire.variables())
    assert said.err.count("inferior 1 is running: stop it first") == 3, said.both
    assert "gdb is alive" in said.out


def test_no_dll(mpiq, hung):
    said = gdb_session.run(["set mpi dll /nowhere/dll.so", "mpi report", "mpi message 1", "mpi rank 1", ALIVE],
                           pid=hung.pids[1], MPIQ=mpiq)
    assert "there is no message-queue library '/nowhere/dll.so'" in said.err
    assert "the pending sends of rank 1 cannot be read: there is no message-queue library" in said.err
    assert "the wrong turn" in said.out
    assert "gdb is alive" in said.out


def test_a_stripped_library_is_read_by_its_layouts(mpiq, line, program, tmp_path):
    """Neither tables nor debug information: the layouts of stock releases are built in."""
    from test_gdb_places import stripped_copy # not on top: that module takes from this one by way of others
    stock = libraries.lines().get(line.name + "-stock")
    if stock is None:
        pytest.skip("no unpatched Open MPI %s is named" % line.name)
    library = stripped_copy(stock, tmp_path)
    command = ["env", "LD_LIBRARY_PATH=%s" % library,
               "OMPI_MCA_mca_base_component_path=%s" % (library / "openmpi"), program]
    with HungJob(stock, command, RANKS) as job:
        job.stuck()
        said = gdb_session.run(["mpi report", "mpi message 1", "mpi rank 1", "frame function take_step", ALIVE],
                               pid=job.pids[1], MPIQ=mpiq)
        assert is_free(job.pids[1])
    assert re.search(r"^deadlock: none of the %d ranks can continue \(Open MPI %s\.\d+( in \S+)?, layouts; all" %
                     (RANKS, re.escape(line.name)), said.out, re.M), said.both
    assert "Posted receives of rank 1\n   0  receive from rank %d, tag 99, MPI_COMM_WORLD" % (RANKS - 1) in said.out
    assert "the wrong turn" in said.out
    assert "gdb is alive" in said.out


def test_rank_that_has_just_ended(mpiq, own_hung):
    """Under gdb, and beside it. mpirun stands still until rank 2 has been asked for: it would end the others."""
    pid, other, mpirun = own_hung.pids[1], own_hung.pids[2], own_hung.pid
    said = gdb_session.run(["mpi report", "shell kill -STOP %d" % mpirun, "shell kill -9 %d" % other, ENDED % (other, other),
                            "mpi report", "mpi rank 2", "mpi message 2", "shell kill -CONT %d" % mpirun,
                            "shell kill -9 %d" % pid, ENDED % (pid, pid), "mpi report",
                            "mpi message 1", "mpi rank 1", ALIVE], pid=pid, MPIQ=mpiq)
    assert "cannot attach to rank 2, process %d: " % other in said.err or "rank 2 has no process" in said.err
    assert "gone" in said.out or "has ended" in said.both
    assert "has ended" in said.err
    assert "gdb is alive" in said.out


def test_interrupt_of_mpiq_itself(mpiq, hung):
    """^C while the real mpiq reads: none of its processes is left, the job goes on."""
    pid = hung.pids[1]
    command = gdb_session.command_line(["echo begin\\n", "mpi report --pause 30", ALIVE, "info threads"])
    command[4:4] = ["-p", str(pid)]
    with subprocess.Popen(command, env=gdb_session.environment(MPIQ=mpiq), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as gdb:
        try:
            wait_until(lambda: children_of(gdb.pid), "mpiq was not started")
            of_mpiq = children_of(gdb.pid)
            # Between its looks it sleeps.
            wait_until(lambda: all(process_state(pid) in "SX" for pid in of_mpiq), "mpiq between its looks")
            gdb.send_signal(signal.SIGINT)
            out, _ = communicate(gdb)
        finally:
            gdb.kill()
    assert "interrupted: mpiq has been ended, the job is unchanged" in out
    assert "gdb is alive" in out
    assert all(is_gone(child) for child in of_mpiq)
    assert all(is_free(rank) for rank in hung.pids.values())


def test_process_killed_under_gdb(wire, own_hung):
    """A rank that ends while gdb has it: the wire says so."""
    pid = own_hung.pids[1]
    answer, said = wire.ask(["symbol ompi_mpi_comm_world", "shell", "read {0} 8"], pid=pid,
                            commands=["shell kill -9 %d" % pid, ENDED % (pid, pid)])
    assert answer["wires"][0][2].startswith(("err gone ", "err unmapped ", "err io ")), said.both
