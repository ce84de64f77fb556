# SPDX-License-Identifier: BSD-3-Clause
"""What calls were given by their callers' code, against what the recorder saw of them, in a snapshot that holds both."""
import json
import subprocess

# An operation's kind in a snapshot: which argument names its peer and its tag.
ARGUMENTS = {"send": ("dest", ["sendtag", "tag"]), "ssend": ("dest", ["tag"]), "rsend": ("dest", ["tag"]),
             "bsend": ("dest", ["tag"]), "receive": ("source", ["recvtag", "tag"]), "probe": ("source", ["tag"])}


def rank_states(snapshot):
    """The rank states of the second look."""
    data = snapshot.read_bytes()
    text = subprocess.run(["zstd", "-dc"], input=data[data.index(b"\x28\xb5\x2f\xfd"):], capture_output=True,
                          check=True).stdout.decode()
    return [json.loads(line[2:]) for line in text.splitlines() if line.startswith("2 {")]


def given_of(thread, request=0):
    """What the call was given, or the one that made its request of that number."""
    return {entry.get("kind", "count"): entry for entry in thread.get("given", []) if entry.get("of_request", 0) == request}


def differences(given, operation):
    """(what is told otherwise, how many arguments are told) of one operation."""
    wrong, told = [], 0
    peer, tags = ARGUMENTS.get(operation.get("kind", "send"), (None, []))
    tag = next((given[name] for name in tags if name in given), None)
    if peer in given:
        told += 1
        value = -1 if given[peer].get("any") else given[peer].get("value", 0)
        if value != operation.get("peer_local", -1):
            wrong.append(f"{peer} {given[peer]} is {operation}")
    if tag:
        told += 1
        if tag.get("any", False) != operation.get("tag_any", False) or \
                (not tag.get("any") and tag.get("value", 0) != operation.get("tag", 0)):
            wrong.append(f"tag {tag} is {operation}")
    return wrong, told


def compared_requests(thread):
    """The same of a thread that waits for requests: each that is pending was made by a call that is told, if all are."""
    waits, wrong, told = thread.get("waits", []), [], 0
    numbers = sorted({entry["of_request"] for entry in thread.get("given", []) if "of_request" in entry})
    made = [given_of(thread, number) for number in numbers]
    if len(waits) != 1 or not made or not all(given["request"].get("name") for given in made) or \
            "requests" in given_of(thread):
        return [], 0
    for operation in waits[0].get("operations", []):
        collective = operation.get("collective")
        alike = [given for given in made if (given["request"]["name"] == collective if collective else
                                             not differences(given, operation)[0])]
        told += 1
        if not alike:
            wrong.append(f"{thread['mpi_call']}: {made} is {operation}")
    return wrong, told


def makers_of(thread):
    """(where calls return to that may have made its requests, whether others may have made some, too)."""
    makers = [entry for entry in thread.get("given", []) if entry.get("kind") == "made_by"]
    return {entry.get("caller") for entry in makers if "name" in entry}, any("name" not in entry for entry in makers)


def compared_makers(thread):
    """The same of a thread of whose requests all makers are told: each that is pending was made by one of them. Of a
    persistent one the record says where it was started."""
    places, others = makers_of(thread)
    waits = thread.get("waits", [])
    if len(waits) != 1 or not places or others:
        return [], 0
    made = [operation for operation in waits[0].get("operations", []) if "caller" in operation and not operation.get("persistent")]
    return [f"{thread['mpi_call']}: made at {places}, and not {operation}" for operation in made
            if operation["caller"] not in places], len(made)


def compared(thread):
    """(what is told wrongly, how many arguments are told) of one thread in a blocking call for one message."""
    waits, given = thread.get("waits", []), given_of(thread)
    if len(waits) != 1 or not given or waits[0].get("call") != thread.get("mpi_call"):
        return [], 0
    wrong, told = [], 0
    for operation in waits[0].get("operations", []):
        differ, some = differences(given, operation)
        wrong += [f"{thread['mpi_call']}: {text}" for text in differ]
        told += some
    return wrong, told


def differences_in(snapshot):
    """(what is told wrongly, how many arguments and how many requests are told) of all ranks."""
    wrong, told, requests = [], 0, 0
    for state in rank_states(snapshot):
        for thread in state.get("threads", []):
            differ, some = compared(thread)
            others, some_requests = compared_requests(thread)
            foreign, some_made = compared_makers(thread)
            wrong += [f"rank {state.get('name')}: {text}" for text in differ + others + foreign]
            told, requests = told + some, requests + some_requests + some_made
    return wrong, told, requests
