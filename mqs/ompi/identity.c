/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "identity.h"

/* ompi_mpi_state of 4.1 and later. */
enum {
    STATE_NOT_INITIALIZED,
    STATE_INIT_STARTED,
    STATE_INIT_COMPLETED,
    STATE_FINALIZE_STARTED,
    STATE_FINALIZE_PAST_SELF,
    STATE_FINALIZE_COMPLETED
};

static int read_int(struct library *library, enum symbol symbol, int *ret)
{
    unsigned char bytes[4];
    mqs_taddr_t address;

    if (!symbol_find(&library->memory.symbols, symbol, &address) ||
        fetch_bytes(&library->memory.fetch, address, sizeof bytes, bytes) != mqs_ok) {
        return -1;
    }
    *ret = (int)number_signed(&library->memory.fetch, bytes, 4);
    return 0;
}

static int phase_of_state(struct library *library)
{
    int state;

    if (read_int(library, SYMBOL_ompi_mpi_state, &state) != 0) {
        return mqs_phase_unknown;
    }
    switch (state) {
    case STATE_NOT_INITIALIZED:
        return mqs_phase_loaded;
    case STATE_INIT_STARTED:
        return mqs_phase_initializing;
    case STATE_INIT_COMPLETED:
        return mqs_phase_running;
    case STATE_FINALIZE_STARTED:
    case STATE_FINALIZE_PAST_SELF:
        return mqs_phase_finalizing;
    case STATE_FINALIZE_COMPLETED:
        return mqs_phase_finalized;
    default:
        return mqs_phase_unknown;
    }
}

static int phase_of_root(uint32_t phase)
{
    switch (phase) {
    case OMPI_MQS_PHASE_LOADED:
        return mqs_phase_loaded;
    case OMPI_MQS_PHASE_INITIALIZING:
        return mqs_phase_initializing;
    case OMPI_MQS_PHASE_RUNNING:
        return mqs_phase_running;
    case OMPI_MQS_PHASE_FINALIZING:
        return mqs_phase_finalizing;
    case OMPI_MQS_PHASE_FINALIZED:
        return mqs_phase_finalized;
    default:
        return mqs_phase_unknown;
    }
}

static void from_memory(struct library *library, mqs_process_identity *ret)
{
    const struct communicator *world = communicator_at(&library->communicators, 0);
    mqs_taddr_t version;

    ret->world_size = world != NULL && world->world ? world->size : 0;
    ret->phase = phase_of_state(library);
    if (read_int(library, SYMBOL_ompi_mpi_thread_provided, &ret->thread_level) != 0 ||
        ret->thread_level < 0 || ret->thread_level > 3 || ret->phase < mqs_phase_running) {
        ret->thread_level = -1;
    }
    if (symbol_find(&library->memory.symbols, SYMBOL_ompi_version_string, &version)) {
        char text[40];

        if (fetch_string(&library->memory.fetch, version, text, sizeof text) == mqs_ok) {
            snprintf(ret->library, sizeof ret->library, "Open MPI %s", text);
        }
    }
}

int identity_get(struct library *library, mqs_process_identity *ret)
{
    const struct ompi_mqs_root *record = &library->root.record;

    memset(ret, 0, sizeof *ret);
    ret->name = library->groups.self;
    ret->thread_level = -1;
    ret->recording = -1;
    ret->layout_source = library->memory.layout.source;
    ret->queues = library_queues(library) == mqs_ok;
    snprintf(ret->pml, sizeof ret->pml, "%s", library->pml);
    if (library->root.present) {
        ret->world_size = record->world_size > INT32_MAX ? 0 : (int)record->world_size;
        ret->phase = phase_of_root(record->phase);
        ret->recording = record->recording != 0;
        if (record->thread_level <= 3 && record->phase >= OMPI_MQS_PHASE_RUNNING) {
            ret->thread_level = (int)record->thread_level;
        }
        memcpy(ret->nspace, record->nspace, sizeof ret->nspace);
        snprintf(ret->library, sizeof ret->library, "Open MPI %s", record->release);
    } else {
        from_memory(library, ret);
    }
    if (ret->library[0] == '\0') {
        snprintf(ret->library, sizeof ret->library, "Open MPI");
    }
    return mqs_ok;
}
