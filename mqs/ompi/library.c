/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "collective.h"
#include "error.h"
#include "han.h"
#include "library.h"
#include "list.h"
#include "thread.h"

#define PML_READ "ob1"

#define MAX_NAMED (1 << 16) /* outstanding calls looked at to name libnbc's requests */

void library_init(struct library *library)
{
    library->groups.memory = &library->memory;
    library->datatypes.memory = &library->memory;
}

void library_clear(struct library *library)
{
    fetch_cache_clear(&library->memory.fetch.cache);
    communicators_clear(&library->communicators);
    library->marked = false;
    datatypes_clear(&library->datatypes);
    requests_clear(&library->requests);
    library->requests_read = false;
    nbc_clear(&library->nbc);
    library->nbc_read = false;
    partitioned_clear(&library->partitioned);
    library->partitioned_read = false;
    library->groups.last.valid = false;
    library->last_collective.valid = false;
}

/* What a root says is there anyhow; the library's own variables take reads. */
static bool is_settled(const struct library *library)
{
    return library->settled && !library->root.present;
}

int library_begin(struct library *library)
{
    struct memory *memory = &library->memory;
    int code;

    library_clear(library);
    symbol_retry(&memory->symbols);
    symbol_expect(&memory->symbols, &memory->fetch);
    code = root_read(memory, &library->root);
    if (code != mqs_ok) {
        return code;
    }
    memory_complete_layout(memory);
    if (!library->root.present) {
        built_in_complete(memory, &library->built_in);
        if (library->built_in.waiting) {
            library->pml[0] = '\0';
            return mqs_ok;
        }
    }
    if (!layout_has_group(&memory->layout, GROUP_COMMUNICATORS)) {
        return ERROR_LAYOUT;
    }
    if (!is_settled(library)) {
        self_read_pml(memory, &library->root, library->pml);
    }
    return mqs_ok;
}

int library_read(struct library *library)
{
    int code = library_begin(library);

    if (code == mqs_ok) {
        if (!is_settled(library)) {
            self_read_name(&library->root, &library->groups);
        }
        code = library->built_in.waiting ? mqs_ok
                                         : communicators_read(&library->memory, &library->communicators);
    }
    if (code != mqs_ok) {
        communicators_clear(&library->communicators);
        return code;
    }
    library->settled =
        library->communicators.list.count > 0 && library->groups.self_known && library->pml[0] != '\0';
    return mqs_ok;
}

int library_queues(const struct library *library)
{
    if (strcmp(library->pml, PML_READ) != 0) {
        return mqs_no_information;
    }
    return layout_has_group(&library->memory.layout, GROUP_REQUESTS) ? mqs_ok : ERROR_LAYOUT;
}

int library_requests(struct library *library)
{
    if (!library->requests_read) {
        int code = library_queues(library);

        if (code == mqs_ok) {
            code = requests_read(&library->memory, &library->communicators, &library->requests);
        }
        library->requests_code = code;
        library->requests_read = true;
    }
    return library->requests_code;
}

/* Requests of libnbc that have no class yet. */
struct unnamed {
    struct nbc_requests *nbc;
    size_t count;
    size_t steps; /* calls that may still be looked at */
};

static int name_request(void *argument, mqs_taddr_t address, int class_, uint64_t number)
{
    struct unnamed *unnamed = argument;
    struct nbc_request *request = nbc_find(unnamed->nbc, address);

    (void)number;
    if (request != NULL && request->collective < 0) {
        request->collective = class_;
        unnamed->count--;
    }
    unnamed->steps--;
    return unnamed->count == 0 ? mqs_end_of_list : mqs_ok;
}

/* Gives libnbc's requests the class that the library recorded for them. */
static void name_requests(struct library *library)
{
    struct unnamed unnamed = {&library->nbc, library->nbc.list.count, MAX_NAMED};

    for (size_t i = 0; unnamed.count > 0 && i < library->communicators.list.count; i++) {
        const struct communicator *comm = communicator_at(&library->communicators, i);
        struct collectives state;

        if (comm->collectives != 0 &&
            collective_read(&library->memory, &library->root, comm->collectives, &state) == mqs_ok) {
            /* What cannot be read stays without a name. */
            (void)collective_visit_outstanding(&library->memory, &state, unnamed.steps, name_request,
                                               &unnamed);
        }
    }
}

int library_nbc(struct library *library)
{
    if (!library->nbc_read) {
        library->nbc_code = nbc_read(&library->memory, &library->nbc);
        library->nbc_read = true;
        if (library->nbc_code == mqs_ok) {
            name_requests(library);
        }
    }
    return library->nbc_code;
}

int library_partitioned(struct library *library)
{
    if (!library->partitioned_read) {
        library->partitioned_code = partitioned_read(&library->memory, &library->partitioned);
        library->partitioned_read = true;
    }
    return library->partitioned_code;
}

bool library_is_own(struct library *library, const struct request *request)
{
    return request_is_internal(request) ||
           (library_partitioned(library) == mqs_ok &&
            (request->comm == library->partitioned.comm || request->comm == library->partitioned.setting));
}

/* Copies of MPI_COMM_WORLD. */
static void mark_partitioned(struct library *library)
{
    struct communicators *communicators = &library->communicators;

    for (size_t i = 0; library_partitioned(library) == mqs_ok && i < communicators->list.count; i++) {
        const struct communicator *comm = communicator_at(communicators, i);

        if (comm->world) {
            communicator_mark(communicators, library->partitioned.comm, comm->address);
            communicator_mark(communicators, library->partitioned.setting, comm->address);
            return;
        }
    }
}

/* Those that the library made for itself: the local one of each intercommunicator, han's, and those that
   partitions go by. */
void library_mark_communicators(struct library *library)
{
    struct communicators *communicators = &library->communicators;
    size_t count = communicators->list.count;

    if (library->marked) {
        return;
    }
    library->marked = true;
    if (count > 2) { /* beside MPI_COMM_WORLD and MPI_COMM_SELF */
        memory_find_han(&library->memory);
    }
    for (size_t i = 0; i < count; i++) {
        const struct communicator *comm = communicator_at(communicators, i);

        if (comm->inter && comm->local_comm != 0) {
            communicator_mark(communicators, comm->local_comm, comm->address);
        }
        han_mark(&library->memory, communicators, comm);
    }
    mark_partitioned(library);
}

static int find_collective_on(struct library *library, mqs_taddr_t comm)
{
    mqs_taddr_t address = library->root.present ? (mqs_taddr_t)library->root.record.threads : 0;
    const struct communicator *found;
    struct cycle cycle = {0, 0, 0};
    mqs_taddr_t parent;
    int class_ = -1;

    if (address == 0) {
        return -1;
    }
    library_mark_communicators(library);
    found = communicator_find(&library->communicators, comm);
    parent = found == NULL ? 0 : found->parent;
    for (size_t i = 0; address != 0 && i < OMPI_MQS_MAX_THREADS && cycle_check(&cycle, address); i++) {
        struct thread_record thread;

        if (thread_read(&library->memory, &library->root, address, &thread) != mqs_ok) {
            return -1;
        }
        if (thread.in_collective && thread.collective >= 0 && thread.comm != 0 &&
            (thread.comm == comm || (parent != 0 && thread.comm == parent))) {
            if (class_ >= 0 && class_ != thread.collective) {
                return -1;
            }
            class_ = thread.collective;
        }
        address = thread.next;
    }
    return class_;
}

int library_collective_on(struct library *library, mqs_taddr_t comm)
{
    if (!library->last_collective.valid || library->last_collective.comm != comm) {
        library->last_collective.class_ = find_collective_on(library, comm);
        library->last_collective.comm = comm;
        library->last_collective.valid = true;
    }
    return library->last_collective.class_;
}
