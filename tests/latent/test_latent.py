# SPDX-License-Identifier: BSD-3-Clause
"""Programs that end well by luck hang under `mpiq run --strict` or are named by --check; right ones are not.

All programs of a library run first, several at once, each in a job of its own; the tests look at what came out.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from support import conditions

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["mpich", "openmpi"]
RANKS = 3
AT_ONCE = 6
RIGHT = ["right", "right_edges"] # programs, each a list of cases
LEAKS = {"--check": 0, "--check=leaks": 123} # exit statuses

# What each program is told of: a part of the first cause.
STRICT = {
    "send_send": "send to each other",
    "send_ring": "send to each other in a circle, and none has posted the receive",
    "isend_wait_first": "send to each other in a circle",
    "persistent_send_first": "send to each other in a circle",
    "send_to_self": "waits for itself in MPI_Send",
    "send_out_of_order": "Rank 0 is sending tag 10, but rank 1 is receiving tag 11",
    "send_before_barrier": "Rank 1 never received the message with tag 6 that rank 0 is sending",
    "isend_wait_before_allreduce": "send to each other",
    "sendrecv_against_send": "Rank 0 is sending tag 8, but rank 1 is receiving tag 10",
    "sendrecv_replace_against_send": "Rank 0 is sending tag 8, but rank 1 is receiving tag 10",
    "halo_by_waitall_of_sends": "send to each other",
    "bcast_before_receive": "Rank 1 never entered the MPI_Bcast",
    "reduce_before_send": "Rank 1 never sent the message with tag 15 that rank 0 is waiting for",
    "gather_before_send": "Rank 1 never sent the message with tag 16 that rank 0 is waiting for",
    "scatter_before_receive": "Rank 1 never entered the MPI_Scatter",
    "two_communicators_swapped": "Rank 0 never entered the MPI_Bcast on \"other\"",
    "bcast_chain_of_roots": "Rank 1 never entered the MPI_Bcast",
    "scan_before_send": "Rank 1 never entered the MPI_Scan",
    "send_before_two_ops": "Rank 1 never received the message with tag 19 that rank 0 is sending",
}
CHECK = {
    "message_lost": ("message_lost", "rank 1 never received the message with tag 20 that rank 0 sent by MPI_Send at latent.c:"),
    "last_message_lost": ("message_lost", "rank 1 never received the last of 5 messages with tag 21"),
    "message_lost_on_freed_communicator": ("message_lost", 'on communicator "pairs"'),
    "one_tag_of_many_lost": ("message_lost", "rank 1 never received the message with tag 113"),
    "probed_and_left": ("message_lost", "rank 1 never received the message with tag 23"),
    "isend_never_waited_for": ("request_leak", "rank 0 never completed or freed the request that MPI_Isend at latent.c:"),
    "irecv_never_waited_for": ("request_leak", "rank 1 never completed or freed the request that MPI_Irecv"),
    "irecv_without_message": ("request_leak", "rank 1 never completed or freed the request that MPI_Irecv"),
    "iallreduce_never_waited_for": ("request_leak", "the request that MPI_Iallreduce"),
    "persistent_never_freed": ("not_freed", "the persistent request that MPI_Recv_init"),
    "reduce_with_two_roots": ("collective_argument_mismatch", "rank 1 called MPI_Reduce with root 1, ranks 0 and 2 with root 0"),
    "allreduce_with_two_ops": ("collective_argument_mismatch", "with op MPI_MAX, ranks 0 and 2 with op MPI_SUM"),
    "scatter_of_two_lengths": ("collective_argument_mismatch", "rank 0 called MPI_Scatter with bytes 8, ranks 1 and 2 with bytes 16"),
    "bcast_of_two_types": ("type_mismatch", "rank 0 called MPI_Bcast with type MPI_INT, ranks 1 and 2 with type MPI_FLOAT"),
    "allreduce_of_two_types": ("type_mismatch", "rank 1 called MPI_Allreduce with type MPI_FLOAT"),
    "bcast_against_reduce_of_nothing": ("collective_mismatch", "collective 1 on MPI_COMM_WORLD: rank 0 called MPI_Bcast at latent.c:"),
    "another_order": ("collective_mismatch", "collective 1 on MPI_COMM_WORLD: rank 1 called MPI_Reduce at latent.c:"),
    "another_order_once": ("collective_mismatch", "collective 362 on MPI_COMM_WORLD: rank 1 called MPI_Reduce at latent.c:"),
    "early_mismatch_long_ago": ("collective_argument_mismatch", "with op MPI_MIN, ranks 0 and 2 with op MPI_MAX (collective 1 on MPI_COMM_WORLD)"),
    "int_received_as_float": ("type_mismatch", "rank 0 sent tag 28 as MPI_INT"),
    "doubles_received_as_ints": ("type_mismatch", "rank 0 sent tag 29 as MPI_DOUBLE"),
    "bytes_received_as_ints": ("type_mismatch", "rank 0 sent tag 30 as MPI_BYTE"),
    "vector_received_as_floats": ("type_mismatch", "rank 0 sent tag 31 as MPI_INT"),
    "communicator_not_freed": ("not_freed", "ranks 0-2 never freed the communicator that MPI_Comm_split"),
    "datatype_not_freed": ("not_freed", "ranks 0-2 never freed the datatype that MPI_Type_contiguous"),
    "group_not_freed": ("not_freed", "ranks 0-2 never freed the group that MPI_Comm_group"),
    "op_not_freed": ("not_freed", "ranks 0-2 never freed the operation that MPI_Op_create"),
    "window_not_freed": ("not_freed", "ranks 0-2 never freed the window that MPI_Win_create"),
}


def compile_program(library, name, folder):
    program = folder / f"{name}-{library}"
    subprocess.run([f"mpicc.{library}", "-g", "-O1", "-w", "-o", program, HERE / f"{name}.c"], check=True)
    return program


def run(library, program, case, *options, **variables):
    """Status, stdout and stderr of one job in a pid namespace of its own: nothing of it is left."""
    folder = tempfile.mkdtemp(prefix="mpiq-latent-") # launchers name their files there by pids, which are equal
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "TMPDIR": folder, "OMPI_MCA_btl_vader_backing_directory": folder, **variables}
    many = ["--oversubscribe"] if library == "openmpi" else []
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL", os.environ["MPIQ"], "run",
               *options, "--hang-after", "30", "--", f"mpirun.{library}", *many, "-n", str(RANKS), program, case,
               *(["hangs"] if "--strict" in options else [])]
    done = conditions.run(command, seconds=300, env=environment, cwd=folder)
    written = pathlib.Path(folder, "answer.json")
    answer = written.read_text(encoding="utf-8") if written.exists() else ""
    left = list(pathlib.Path(folder).glob("mpiq-check-*"))
    shutil.rmtree(folder)
    assert not left
    return done.returncode, answer or done.stdout + done.stderr


@pytest.fixture(name="results", params=LIBRARIES, scope="module")
def fixture_results(request, tmp_path_factory):
    """What came of each program of that library."""
    library = request.param
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    folder = tmp_path_factory.mktemp(library)
    latent = compile_program(library, "latent", folder)
    jobs = {case: (latent, case, "--check", "--json-to", "answer.json") for case in CHECK}
    jobs |= {case: (latent, case, "--strict") for case in STRICT}
    for name in RIGHT:
        program = compile_program(library, name, folder)
        jobs |= {name + option: (program, "all_of_them", option) for option in ("--strict", "--check")}
    jobs |= {"datatype_not_freed" + option: (latent, "datatype_not_freed", option) for option in LEAKS}
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        futures = {name: pool.submit(run, library, *job) for name, job in jobs.items()}
        futures["unread"] = pool.submit(run, library, latent, "message_lost", "--check", MPIQ_RECORD_DLL=str(folder / "no-such.so"))
        return {name: future.result() for name, future in futures.items()}


@pytest.mark.parametrize("case", STRICT)
def test_strict_hangs_and_explains(results, case):
    status, text = results[case]
    assert status == 124, text
    assert re.search(r"^deadlock: ", text, re.M), text
    cause = re.search(r"^1\. (.*(?:\n   ?[^ ].*)*)", text, re.M)
    assert cause and STRICT[case] in " ".join(cause[1].split()), text
    assert "latent.c:" in text and "PMPI" not in text, text


@pytest.mark.parametrize("case", CHECK)
def test_check_names(results, case):
    status, text = results[case]
    kind, words = CHECK[case]
    if case == "window_not_freed":
        assert status != 123, text # the job's own: MPICH ends such a one with an error
    else:
        assert status == (0 if kind == "not_freed" else 123), text
    report = json.loads(text)
    assert report["verdict"] == "finished"
    assert [finding["kind"] for finding in report["findings"]] == [kind], text
    assert words in report["findings"][0]["text"]
    assert all(site["file"].endswith("latent.c") and site["line"] > 0 for site in report["findings"][0]["sites"])


@pytest.mark.parametrize("option", ["--strict", "--check"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_not_accused(results, name, option):
    status, text = results[name + option]
    assert status == 0, text
    said = re.findall("^mpiq: .*", text, re.M)
    clean = ["mpiq: check: no errors; checked messages, requests, collectives, types and objects of "]
    assert [line[:len(clean[0])] for line in said] == (clean if option == "--check" else []), text
    assert "deadlock" not in text, text


@pytest.mark.parametrize("option, wanted", LEAKS.items())
def test_what_was_never_freed_is_an_error_on_demand(results, option, wanted):
    status, text = results["datatype_not_freed" + option]
    assert status == wanted, text
    assert "never freed the datatype" in text


def test_ranks_that_cannot_be_read_are_let_go_with_the_reason(results):
    status, text = results["unread"]
    assert status == 0, text
    assert "mpiq: some ranks were not checked: " in text and "libmpiq_record_msgq.so cannot be opened" in text, text
    assert "no rank reached MPI_Finalize" not in text, text
