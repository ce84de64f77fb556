/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "identity.h"
#include "process.h"

/* ompi_mpi_state of 4.1 and later. */
enum {
    STATE_NOT_INITIALIZED,
    STATE_INIT_STARTED,
    STATE_INIT_COMPLETED,
    STATE_FINALIZE_STARTED,
    STATE_FINALIZE_PAST_SELF,
    STATE_FINALIZE_COMPLETED
};

static void read_name(mqs_process_info *info)
{
    mqs_taddr_t symbol;
    mqs_taddr_t proc;

    info->self_known = false;
    if (info->root.present && info->root.record.world_size > 0) {
        info->self.jobid = info->root.record.jobid;
        info->self.vpid = info->root.record.vpid;
        info->self_known = true;
        return;
    }
    if (layout_has(&info->layout, AT_PROC_NAME) && symbol_find(info, SYMBOL_ompi_proc_local_proc, &symbol) &&
        fetch_pointer(info, symbol, &proc) == mqs_ok && proc != 0) {
        info->self_known = group_name_of(info, proc, &info->self) == mqs_ok;
    }
}

static void read_pml(mqs_process_info *info)
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t component;
    int32_t offset = info->layout.offset[AT_COMPONENT_NAME];

    info->pml[0] = '\0';
    if (info->root.present && info->root.record.pml[0] != '\0') {
        snprintf(info->pml, sizeof info->pml, "%s", info->root.record.pml);
        return;
    }
    /* The selected component begins with what all components begin with. */
    if (layout_has(&info->layout, AT_COMPONENT_NAME) &&
        symbol_find(info, SYMBOL_mca_pml_base_selected_component, &component) &&
        fetch_structure(info, component, AT_COMPONENT, bytes) == mqs_ok) {
        text_copy(info->pml, sizeof info->pml, bytes + offset,
                  (size_t)(info->layout.size[AT_COMPONENT] - offset));
    }
}

/* A root is there anyhow; from the library's own variables it takes reads. */
static bool is_settled(const mqs_process_info *info)
{
    return info->settled && !info->root.present;
}

void identity_read_pml(mqs_process_info *info)
{
    if (!is_settled(info)) {
        read_pml(info);
    }
}

void identity_read_name(mqs_process_info *info)
{
    if (!is_settled(info)) {
        read_name(info);
    }
}

static int read_int(mqs_process_info *info, enum symbol symbol, int *ret)
{
    unsigned char bytes[4];
    mqs_taddr_t address;

    if (!symbol_find(info, symbol, &address) || fetch_bytes(info, address, sizeof bytes, bytes) != mqs_ok) {
        return -1;
    }
    *ret = (int)number_signed(info, bytes, 4);
    return 0;
}

static int phase_of_state(mqs_process_info *info)
{
    int state;

    if (read_int(info, SYMBOL_ompi_mpi_state, &state) != 0) {
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

static void from_memory(mqs_process_info *info, mqs_process_identity *ret)
{
    const struct communicator *world = communicator_at(info, 0);
    mqs_taddr_t version;

    ret->world_size = world != NULL && world->world ? world->size : 0;
    ret->phase = phase_of_state(info);
    if (read_int(info, SYMBOL_ompi_mpi_thread_provided, &ret->thread_level) != 0 || ret->thread_level < 0 ||
        ret->thread_level > 3 || ret->phase < mqs_phase_running) {
        ret->thread_level = -1;
    }
    if (symbol_find(info, SYMBOL_ompi_version_string, &version)) {
        char text[40];

        if (fetch_string(info, version, text, sizeof text) == mqs_ok) {
            snprintf(ret->library, sizeof ret->library, "Open MPI %s", text);
        }
    }
}

int identity_get(mqs_process_info *info, mqs_process_identity *ret)
{
    const struct ompi_mqs_root *record = &info->root.record;

    memset(ret, 0, sizeof *ret);
    ret->name = info->self;
    ret->thread_level = -1;
    ret->recording = -1;
    ret->layout_source = info->layout.source;
    ret->queues = process_queues(info) == mqs_ok;
    snprintf(ret->pml, sizeof ret->pml, "%s", info->pml);
    if (info->root.present) {
        ret->world_size = record->world_size > INT32_MAX ? 0 : (int)record->world_size;
        ret->phase = phase_of_root(record->phase);
        ret->recording = record->recording != 0;
        if (record->thread_level <= 3 && record->phase >= OMPI_MQS_PHASE_RUNNING) {
            ret->thread_level = (int)record->thread_level;
        }
        memcpy(ret->nspace, record->nspace, sizeof ret->nspace);
        snprintf(ret->library, sizeof ret->library, "Open MPI %s", record->release);
    } else {
        from_memory(info, ret);
    }
    if (ret->library[0] == '\0') {
        snprintf(ret->library, sizeof ret->library, "Open MPI");
    }
    return mqs_ok;
}
