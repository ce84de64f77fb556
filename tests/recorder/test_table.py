# SPDX-License-Identifier: BSD-3-Clause
"""Checks the table of wrapped functions against each installed mpi.h: every function that communicates, waits or makes
an object is wrapped or left out with a reason, and each row has as many arguments as the function."""
import pathlib
import re
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "recorder" / "functions.h"

# What is left out, and why.
LEFT_OUT = {
    "asks, computes or sets something in this process alone":
        r"MPI_(T_|Type_|Info_|Group_|Op_|Errhandler|Error_|Add_error|Get_|Is_thread|Query_thread|Initialized|Finalized|"
        r"Status_|Alloc_mem|Free_mem|Aint_|Pack|Unpack|Reduce_local|Register_datarep|Dims_create|Graph|Cart|Topo|"
        r"Dist_graph_neighbors|Address|Aint$|Keyval|Attr_|Test_cancelled|Buffer_attach|Wtime|Wtick|Pcontrol|"
        r"Win_(get|set|create_keyval|free_keyval|delete|call|attach|detach|shared_query|sync|c2f|f2c|create_errhandler)|"
        r"Comm_(rank|size|group|remote|test_inter|compare|get|set|create_keyval|free_keyval|delete|call|c2f|f2c|"
        r"create_errhandler|dup_fn)|File_(get|c2f|f2c|call|create_errhandler|set_errhandler|delete|seek$)|"
        r"Request_(c2f|f2c)|Message_(c2f|f2c)|NULL_|DUP|CONVERSION|COMM_|TYPE_|WIN_|Grequest_complete)",
    "a program that uses sessions without MPI_Init is not recorded yet": r"MPI_Session_",
    "talks to the launcher's name service, with no other rank": r"MPI_(Publish|Unpublish|Lookup)_name|MPI_(Open|Close)_port",
}


def rows():
    table = {}
    for kind, name, _, roles in re.findall(r'([XL])\((\w+), (\w+), "([^"]*)"', TABLE.read_text(encoding="utf-8")):
        for suffix in ("", "_c") if kind == "L" else ("",):
            table[f"MPI_{name}{suffix}"] = roles
    return table


def declared(library, directory):
    """Functions of mpi.h with their numbers of arguments."""
    header = directory / "functions.c"
    header.write_text("#include <mpi.h>\n", encoding="utf-8")
    source = subprocess.run([f"mpicc.{library}", "-E", "-P", str(header)], check=True,
                            capture_output=True, text=True).stdout
    found = {}
    for name, arguments in re.findall(r"\b(MPI_[A-Z]\w*)\s*\(((?:[^()]|\([^()]*\))*)\)", source.replace("\n", " ")):
        arguments = re.sub(r"\([^()]*\)", "", arguments)
        found[name] = 0 if arguments.strip() in ("", "void") else arguments.count(",") + 1
    return found


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_table(library, tmp_path):
    if not shutil.which(f"mpicc.{library}"):
        pytest.skip(f"mpicc.{library} is not installed")
    table, functions = rows(), declared(library, tmp_path)
    assert len(functions) > 300
    missing = [name for name in functions
               if name not in table and not any(re.match(pattern, name) for pattern in LEFT_OUT.values())]
    assert not missing, f"neither wrapped nor left out with a reason: {missing}"
    wrong = {name: (roles, functions[name]) for name, roles in table.items() if name in functions
             and len(roles) > functions[name]}
    assert not wrong, f"more roles than arguments: {wrong}"
    short = {name: (roles, functions[name]) for name, roles in table.items() if name in functions
             and len(roles) != functions[name] and set(roles) - set("-*")
             and not name.startswith(("MPI_File", "MPI_Pready", "MPI_Win_test"))}
    assert not short, f"other numbers of roles and arguments: {short}"
