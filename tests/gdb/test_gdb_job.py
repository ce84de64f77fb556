# SPDX-License-Identifier: BSD-3-Clause
"""The commands with the real mpiq behind them, on real jobs: they say what mpiq says."""
import contextlib
import json
import os
import pathlib
import re
import subprocess

import gdb_session
from hung_job import HERE, RANKS, HungJob
from test_gdb_places import needs_gdbserver
from test_gdb_trouble import is_free
from support import conditions
from support.answers import without_times
from support.conditions import NotMet, Unchanged, wait_until

# How long something has lasted is another moment later.
_TIME = re.compile(r"\b\d+(\.\d+)? (ms|s|m|h|d)\b( \d+ (ms|s|m|h)\b)*")

ONE_LINE_EACH = [("collectives", []), ("queues", []), ("queues", ["--all"]), ("comms", []), ("ranks", []),
                 ("why", ["0"]), ("why", ["1"]), ("ranks", ["--ranks", "0-3"])]


def timeless(text):
    return re.sub(" +", " ", _TIME.sub("TIME", text)).rstrip()


def mpiq_says(mpiq, *arguments, statuses=(0, 1)):
    done = conditions.run([mpiq, *map(str, arguments)], seconds=gdb_session.SECONDS)
    assert done.returncode in statuses, done.stderr
    return done.stdout


def gdb_says(mpiq, pid, *commands, **how):
    """What gdb prints for commands, without its own words about the attaching."""
    marks = ["echo <answer>\\n", *commands, "echo </answer>\\n"]
    said = gdb_session.run(marks, pid=pid, MPIQ=mpiq, **how)
    assert "<answer>\n" in said.out, said.both
    return said.out.split("<answer>\n")[1].split("</answer>\n")[0], said


def each_said(mpiq, pid, commands, before=(), **how):
    """What gdb prints for each of the commands in one session, which costs more than any of them; and all it said."""
    marked = [word for command in commands for word in ("echo <answer>\\n", command, "echo </answer>\\n")]
    said = gdb_session.run([*before, *marked], pid=pid, MPIQ=mpiq, **how)
    answers = re.findall("<answer>\n(.*?)</answer>\n", said.out, re.S)
    assert len(answers) == len(commands), said.both
    return [answer.partition("\nTo go to ")[0] for answer in answers], said


def agree_on_each(mpiq, job, in_gdb, commands=tuple(ONE_LINE_EACH), same=lambda expected, said: timeless(expected) == timeless(said)):
    """agree() for commands and their arguments: in_gdb(commands) gives what gdb prints for them.  Those on which the two
    differ are asked for again."""
    left, last, unchanged = list(commands), [], Unchanged()

    def alike():
        answers = in_gdb([" ".join(["mpi", command, *arguments]) for command, arguments in left])
        both = [(mpiq_says(mpiq, command, *arguments, job.pid), said) for (command, arguments), said in zip(left, answers)]
        last[:] = [pair for pair in both if not same(*pair)]
        left[:] = [command for command, pair in zip(left, both) if not same(*pair)]
        return not left or unchanged.stays([timeless(said) for pair in last for said in pair])

    with contextlib.suppress(NotMet):
        wait_until(alike, seconds=20)
    assert not left, "\n".join(f"mpiq: {expected}\ngdb: {said}" for expected, said in last)


def agree(both):
    """mpiq and gdb say the same, (expected, said), in the end: a rank that polls may be caught where its stack cannot be
    walked, then another look sees it."""
    last, unchanged = [], Unchanged()

    def alike():
        last[:] = both()
        return last[0] == last[1] or unchanged.stays(list(last))

    with contextlib.suppress(NotMet):
        wait_until(alike, seconds=20)
    assert last[1] == last[0]


def test_same_as_mpiq(mpiq, hung):
    agree_on_each(mpiq, hung, lambda commands: each_said(mpiq, hung.pids[1], commands)[0])


def test_same_json_as_mpiq(mpiq, hung):
    agree_on_each(mpiq, hung, lambda commands: each_said(mpiq, hung.pids[0], commands)[0],
                  [(command, ["--json"]) for command in ("report", "collectives", "queues", "comms", "ranks")],
                  lambda expected, said: without_times(json.loads(expected)) == without_times(json.loads(said)))


def test_report(mpiq, hung):
    def both():
        answer, said = gdb_says(mpiq, hung.pids[2], "mpi report")
        text, _, way = answer.rpartition("\nTo go to ")
        suspects = json.loads(mpiq_says(mpiq, "report", "--json", hung.pid))["findings"][0]["suspects"]
        assert suspects == "1,7" # which of the two went wrong nobody can tell: the way is to the first
        assert way == "rank 1: mpi rank 1\n", said.both
        assert "MPI_Bcast" in text and "rank 1" in text
        return timeless(mpiq_says(mpiq, "report", hung.pid)), timeless(text)

    agree(both)


def test_collectives_of_one_communicator(mpiq, hung):
    def both():
        answer, _ = gdb_says(mpiq, hung.pids[1], "mpi collectives MPI_COMM_WORLD")
        return timeless(mpiq_says(mpiq, "collectives", "--comm", "MPI_COMM_WORLD", hung.pid)), timeless(answer)

    agree(both)
    _, said = gdb_says(mpiq, hung.pids[1], "mpi collectives MPI_COMM_ELSE", "mpi collectives a b")
    assert "the job has no communicator 'MPI_COMM_ELSE'" in said.err
    assert "takes one communicator, not 2" in said.err


def test_completion_knows_communicators(mpiq, hung):
    answer, _ = gdb_says(mpiq, hung.pids[1], "complete mpi collectives MPI_", "mpi report", "echo <after>\\n",
                         "complete mpi collectives MPI_")
    before, after = answer.split("<after>\n")
    assert before.startswith("mpi collectives MPI_COMM_WORLD\n")
    assert "mpi collectives MPI_COMM_SELF\n" in after


def test_program_compiled_by_a_relative_name(mpiq, line, tmp_path):
    """The rank that gdb has and those that mpiq reads are at the same line of the same file."""
    (tmp_path / "wrong_turn.c").write_text((HERE / "wrong_turn.c").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([line.command("mpicc"), "-g", "-O1", f"-I{HERE.parent}", "-o", "wrong_turn", "wrong_turn.c"],
                   cwd=tmp_path, check=True)
    with HungJob(line, [tmp_path / "wrong_turn"], RANKS) as job:
        job.stuck()

        def both():
            answer, _ = gdb_says(mpiq, job.pids[0], "mpi report")
            return (timeless(mpiq_says(mpiq, "report", job.pid)),
                    timeless(answer.rpartition("\nTo go to ")[0]))

        agree(both)


def test_queues_of_ranks(mpiq, hung):
    expected = mpiq_says(mpiq, "queues", "--ranks", "2", hung.pid)
    answer, _ = gdb_says(mpiq, hung.pids[1], "mpi queues 2")
    assert timeless(answer) == timeless(expected)
    assert "7" in answer # the unexpected message's tag


def test_four_commands(mpiq, hung):
    """From gdb -p to the suspect's variables."""
    answer, said = gdb_says(mpiq, hung.pids[3], "mpi report", "mpi rank 1", "print step->residual",
                            "mpi detach")
    assert "[Rank 1 is inferior 2, process %d]" % hung.pids[1] in answer, said.both
    assert "the wrong turn" in answer
    assert "$1 = 0.25\n" in answer
    assert answer.endswith("Detached from 1 rank.\n")
    assert all(is_free(pid) for pid in hung.pids.values())


def test_report_of_several_inferiors(mpiq, hung):
    """With all ranks attached the answer is the same."""
    def both():
        answer, said = gdb_says(mpiq, hung.pids[0], "mpi attach --all", "echo <mark>\\n", "mpi report",
                                "echo <end>\\n", "mpi report --json", "mpi detach")
        assert "Attached to %d ranks." % RANKS in answer, said.both
        text = answer.split("<mark>\n")[1].split("<end>\n")[0]
        # Which file a library without the patch is, mpiq says where it reads all ranks itself.
        expected = re.sub(r" in /\S*libmpi\S*(?=,)", "", mpiq_says(mpiq, "report", hung.pid))
        return timeless(expected), timeless(text.rpartition("\nTo go to ")[0])

    agree(both)


def test_attach_by_launcher(mpiq, hung):
    answer, said = gdb_says(mpiq, None, "mpi attach %d 1-2" % hung.pid, "mpi rank 2", "print $mpi_rank()",
                            "print $mpi_size()", "print $mpi_pid(3)", "mpi attach 99", "info inferiors")
    assert "Attached to 2 ranks." in answer, said.both
    assert "take_step" in answer
    assert "$1 = 2\n$2 = %d\n$3 = %d\n" % (RANKS, hung.pids[3]) in answer
    assert "there is no rank 99: mpiq knows ranks 0 to %d of this job" % (RANKS - 1) in said.err
    assert str(hung.pids[0]) not in answer.split("print")[-1]


def test_snapshot(mpiq, hung, tmp_path):
    file = tmp_path / "job.mpiq"

    def both():
        answer, _ = gdb_says(mpiq, hung.pids[1], "mpi snapshot %s" % file, "mpi report %s" % file)
        assert timeless(mpiq_says(mpiq, "report", file)) == timeless(answer)
        return timeless(mpiq_says(mpiq, "report", hung.pid)), timeless(answer)

    agree(both)


def test_core_files(mpiq, hung, cores):
    """Of cores nobody has attached to, and of those that gdb has open."""
    program = "/proc/%d/exe" % hung.pids[1]
    # Two ranks of the job, unpatched, may be too little to say more than what they do.
    expected = mpiq_says(mpiq, "report", *cores.values(), statuses=(1, 3))
    pattern = cores[1].parent / "core.*"
    answer, said = gdb_says(mpiq, None, "mpi report %s" % pattern)
    assert timeless(answer) == timeless(expected), said.err
    opened, said = gdb_says(mpiq, None, "mpi report", "mpi rank 1",
                            arguments=[os.path.realpath(program), cores[1]])
    assert "MPI_Recv" in opened and "99" in opened, said.both
    assert "the wrong turn" in opened


@needs_gdbserver
def test_gdbserver_says_the_same(mpiq, hung):
    def in_gdb(commands):
        answers, _ = each_said(mpiq, None, commands, before=[
            "set sysroot /", "target remote | gdbserver --attach - %d 2>/dev/null" % hung.pids[1]])
        wait_until(lambda: is_free(hung.pids[1]), "gdbserver lets rank 1 go")
        return answers

    agree_on_each(mpiq, hung, in_gdb, [("report", []), *ONE_LINE_EACH])


def test_cores_say_the_same(mpiq, hung, cores): # pylint: disable=unused-argument
    """Of several cores that nobody has opened, for every command."""
    commands = [("report", []), *ONE_LINE_EACH]
    pattern = str(cores[1].parent / "core.*")
    answers, said = each_said(mpiq, None, [" ".join(["mpi", command, *arguments, pattern]) for command, arguments in commands])
    for (command, arguments), answer in zip(commands, answers):
        expected = mpiq_says(mpiq, command, *arguments, *cores.values(), statuses=(0, 1, 3))
        if command == "why" and arguments == ["0"]:
            assert "rank 0" in said.err + answer
        else:
            assert timeless(answer) == timeless(expected), said.err


def test_no_mpi_process(mpiq):
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            answer, said = gdb_says(mpiq, other.pid, "mpi report", "mpi rank 0")
        finally:
            other.kill()
    assert "process %d (/usr/bin/sleep), has no MPI library loaded" % other.pid in said.err, said.both
    # Both commands say so, and nothing else.
    assert said.err.count("process %d (sleep) is not a rank of an MPI job" % other.pid) == 2, said.both
    assert answer == ""


def test_job_goes_on(mpiq, line, program, tmp_path):
    """gdb attached to all ranks, a report, gdb killed: the job ends with the right result."""
    release = tmp_path / "release"
    with HungJob(line, [program, release], RANKS) as job:
        job.stuck()
        commands = ["mpi attach --all", "mpi report", "shell touch %s/reported" % tmp_path, "shell sleep 60"]
        command = gdb_session.command_line(commands)
        command[4:4] = ["-p", str(job.pids[1])]
        with subprocess.Popen(command, env=gdb_session.environment(MPIQ=mpiq), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as gdb:
            try:
                wait_until((tmp_path / "reported").exists, "no report")
            finally:
                gdb.kill()
        pathlib.Path(release).touch()
        assert job.wait() == 0
        assert "sum %d" % (RANKS * 5 + RANKS - 1) in job.output()
