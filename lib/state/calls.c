/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/calls.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "ompi_mqs.h"

static const struct {
    const char *name;
    char kind;
    char order;
} classes[] = {
#define CLASS(value, id, name, kind, order) [value] = {name, #kind[0], #order[0]},
    OMPI_MQS_COLLECTIVES(CLASS)
#undef CLASS
};

/* Whether a name is one of some; NULL: no. */
static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; name && i < count; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

const char *mpiq_collective_name(int collective)
{
    return collective >= 0 && collective < OMPI_MQS_COLLECTIVE_COUNT ? classes[collective].name : NULL;
}

bool mpiq_is_for_job(const char *call)
{
    return call && (strcmp(call, "MPI_Comm_accept") == 0 || strcmp(call, "MPI_Comm_connect") == 0);
}

bool mpiq_is_poll(const char *call)
{
    static const char *const names[] = {"MPI_Test",
                                        "MPI_Testall",
                                        "MPI_Testany",
                                        "MPI_Testsome",
                                        "MPI_Iprobe",
                                        "MPI_Improbe",
                                        "MPI_Request_get_status",
                                        "MPI_Request_get_status_all",
                                        "MPI_Request_get_status_any",
                                        "MPI_Request_get_status_some",
                                        "MPI_Test_cancelled",
                                        "MPI_Parrived",
                                        "MPI_Win_test"};
    return is_one_of(call, names, sizeof names / sizeof *names);
}

int mpiq_collective_class(const char *name)
{
    if (strncmp(name, "MPI", 3) != 0 || !name[3])
        return -1;
    for (int collective = 0; collective < OMPI_MQS_COLLECTIVE_COUNT; collective++) {
        /* Asked of every rank, many times: the fifth character tells most names apart. */
        if (classes[collective].name[4] == name[4] && strcmp(classes[collective].name, name) == 0)
            return collective;
    }
    return -1;
}

char mpiq_collective_kind(int collective)
{
    return mpiq_collective_name(collective) ? classes[collective].kind : '\0';
}

bool mpiq_collective_ordered(int collective)
{
    return mpiq_collective_name(collective) && classes[collective].order == 'O';
}

enum mpiq_blocking mpiq_blocking_call(const char *name)
{
    static const struct {
        const char *name; /* after MPI_ */
        enum mpiq_blocking blocking;
    } calls[] = {
        {"Recv", MPIQ_BLOCKING_RECEIVE},      {"Probe", MPIQ_BLOCKING_RECEIVE},
        {"Mprobe", MPIQ_BLOCKING_RECEIVE},    {"Mrecv", MPIQ_BLOCKING_RECEIVE},
        {"Send", MPIQ_BLOCKING_SEND},         {"Ssend", MPIQ_BLOCKING_SEND},
        {"Rsend", MPIQ_BLOCKING_SEND},        {"Buffer_detach", MPIQ_BLOCKING_SEND},
        {"Sendrecv", MPIQ_BLOCKING_BOTH},     {"Sendrecv_replace", MPIQ_BLOCKING_BOTH},
        {"Wait", MPIQ_BLOCKING_REQUESTS},     {"Waitall", MPIQ_BLOCKING_REQUESTS},
        {"Waitany", MPIQ_BLOCKING_REQUESTS},  {"Waitsome", MPIQ_BLOCKING_REQUESTS},
        {"Init", MPIQ_BLOCKING_INIT},         {"Init_thread", MPIQ_BLOCKING_INIT},
        {"Finalize", MPIQ_BLOCKING_FINALIZE},
    };
    if (!name || strncmp(name, "MPI_", 4) != 0)
        return MPIQ_BLOCKING_NOT;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].name[0] == name[4] && strcmp(calls[i].name, name + 4) == 0)
            return calls[i].blocking;
    }
    int collective = mpiq_collective_class(name);
    return collective >= 0 && mpiq_collective_kind(collective) == 'B' ? MPIQ_BLOCKING_COLLECTIVE
                                                                      : MPIQ_BLOCKING_NOT;
}

/* How much shorter a name is without its ending. */
static size_t ending(const char *name, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length > size && strncmp(name + length - size, end, size) == 0 ? size : 0;
}

unsigned mpiq_call_messages(const char *name)
{
    static const struct {
        const char *name; /* after MPI_ and I, before _init and _c */
        unsigned does;
    } calls[] = {
        {"send", MPIQ_CALL_SENDS},
        {"bsend", MPIQ_CALL_SENDS},
        {"ssend", MPIQ_CALL_SENDS},
        {"rsend", MPIQ_CALL_SENDS},
        {"psend", MPIQ_CALL_SENDS},
        {"recv", MPIQ_CALL_RECEIVES},
        {"mrecv", MPIQ_CALL_RECEIVES},
        {"precv", MPIQ_CALL_RECEIVES},
        {"probe", MPIQ_CALL_PROBES},
        {"mprobe", MPIQ_CALL_PROBES},
        {"sendrecv", MPIQ_CALL_SENDS | MPIQ_CALL_RECEIVES},
        {"sendrecv_replace", MPIQ_CALL_SENDS | MPIQ_CALL_RECEIVES},
    };
    if (!name || strncmp(name, "MPI_", 4) != 0)
        return 0;
    name += name[4] == 'I' ? 5 : 4;
    size_t length = strlen(name);
    length -= ending(name, length, "_c");
    size_t init = ending(name, length, "_init");
    length -= init;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strncasecmp(calls[i].name, name, length) == 0 && !calls[i].name[length])
            return calls[i].does | (init ? MPIQ_CALL_PREPARES : 0u);
    }
    return 0;
}

bool mpiq_call_makes_window(const char *name)
{
    static const char *const calls[] = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared",
                                        "MPI_Win_create_dynamic"};
    return is_one_of(name, calls, sizeof calls / sizeof *calls);
}

bool mpiq_call_opens_file(const char *name)
{
    return name && strcmp(name, "MPI_File_open") == 0;
}

bool mpiq_call_waits_in_window(const char *name)
{
    static const char *const calls[] = {"wait",   "start",      "complete",       "lock",      "lock_all",
                                        "unlock", "unlock_all", "flush",          "flush_all", "flush_local",
                                        "fence",  "free",       "flush_local_all"};
    return name && strncmp(name, "MPI_Win_", 8) == 0 &&
           is_one_of(name + 8, calls, sizeof calls / sizeof *calls);
}

bool mpiq_call_reads_window(const char *name)
{
    static const char *const calls[] = {
        "MPI_Compare_and_swap", "MPI_Fetch_and_op",        "MPI_Get",
        "MPI_Get_accumulate",   "MPI_Win_flush",           "MPI_Win_flush_all",
        "MPI_Win_flush_local",  "MPI_Win_flush_local_all", "MPI_Win_sync",
        "MPI_Win_lock",         "MPI_Win_lock_all",        "MPI_Win_unlock",
        "MPI_Win_unlock_all",
    };
    return is_one_of(name, calls, sizeof calls / sizeof *calls);
}

bool mpiq_call_writes_window(const char *name)
{
    static const char *const calls[] = {"MPI_Put", "MPI_Rput", "MPI_Accumulate", "MPI_Raccumulate"};
    return is_one_of(name, calls, sizeof calls / sizeof *calls);
}
