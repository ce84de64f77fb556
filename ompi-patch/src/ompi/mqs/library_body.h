/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library_body.h - the bodies of everything but a component's own table.  One file of libmpi includes it.
 */
#ifndef OMPI_MQS_LIBRARY_BODY_H
#define OMPI_MQS_LIBRARY_BODY_H

#include "ompi/mqs/library.h"

#if OMPI_MQS

#include <stdio.h>
#include <sys/prctl.h>

#include "ompi/communicator/communicator.h"
/* series: calls */
#include "ompi/group/group.h"
/* series: end */
#include "ompi/mqs/call_body.h"
#include "ompi/mqs/callback_body.h"
#include "ompi/mqs/request_body.h"
#include "ompi/mqs/thread_body.h"
#include "ompi/mqs/wait_body.h"
#include "ompi/mqs/window_body.h"
/* series: calls */
#include "ompi/proc/proc.h"
/* series: end */
#include "opal/mca/base/mca_base_var.h"
/* series: waits */
#include "opal/runtime/opal_progress.h"
/* series: end */

#define OMPI_MQS_SYMBOLS 32

static struct ompi_mqs_symbol ompi_mqs_symbols[OMPI_MQS_SYMBOLS];
/* series: calls */
static bool ompi_mqs_record = true;
/* series: end */
static bool ompi_mqs_allow_ptrace = false;

static void ompi_mqs_copy_name(char *target, size_t size, const char *name)
{
    size_t length = strnlen(name, size - 1);

    memset(target, 0, size);
    memcpy(target, name, length);
}

/* series: calls */
/* Whether threads of MPI are something else than the kernel's: records belong to those. */
static bool ompi_mqs_foreign_threads(void)
{
#if OMPI_MAJOR_VERSION >= 5 && !defined(OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H)
    return true;
#else
    return false;
#endif
}

/* MPI_Init was entered before it could be known that nothing is recorded. */
static void ompi_mqs_forget_init(void)
{
    struct ompi_mqs_collectives *process = &ompi_mqs_process.record;
    struct ompi_mqs_count_block *block;

    ompi_mqs_lock_word(&ompi_mqs_process.lock);
    memset(ompi_mqs_process_ring, 0, sizeof(ompi_mqs_process_ring));
    memset(process->counts, 0, sizeof(process->counts));
    for (block = ompi_mqs_pointer(process->more_counts); NULL != block; block = ompi_mqs_pointer(block->next)) {
        memset(block->of, 0, sizeof(block->of));
    }
    process->position = 0;
    ompi_mqs_unlock_word(&ompi_mqs_process.lock);
    if (&ompi_mqs_nobody != ompi_mqs_self) {
        ompi_mqs_thread_leave(ompi_mqs_self);
    }
}

/* series: end */
void ompi_mqs_register_params(void)
{
/* series: calls */
    (void) mca_base_var_register("ompi", "mpi", "mqs", "record",
                                 "Keep records of collective calls and of what threads wait for, for "
                                 "debuggers (0: off, 1: on)",
                                 MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0, OPAL_INFO_LVL_3,
                                 MCA_BASE_VAR_SCOPE_READONLY, &ompi_mqs_record);
/* series: end */
    (void) mca_base_var_register("ompi", "mpi", "mqs", "allow_ptrace",
                                 "Let any process of the same user look at this one, where the kernel "
                                 "(Yama) would only let its parent (0: no, 1: yes)",
                                 MCA_BASE_VAR_TYPE_BOOL, NULL, 0, 0, OPAL_INFO_LVL_3,
                                 MCA_BASE_VAR_SCOPE_READONLY, &ompi_mqs_allow_ptrace);
/* series: calls */
    if (ompi_mqs_foreign_threads()) {
        ompi_mqs_record = false;
    }
    ompi_mqs_root.recording = ompi_mqs_record;
    if (!ompi_mqs_record) {
        ompi_mqs_forget_init();
    }
/* series: end */
#if defined(PR_SET_PTRACER) && defined(PR_SET_PTRACER_ANY)
    if (ompi_mqs_allow_ptrace) {
        /* Fails where there is no Yama, and then it is not needed. */
        (void) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    }
#endif
}

void ompi_mqs_phase(enum ompi_mqs_phase phase, int level)
{
    ompi_mqs_root.phase = phase;
    if (0 <= level) {
        ompi_mqs_root.thread_level = (uint32_t) level;
    }
}

void ompi_mqs_identify(uint32_t jobid, uint32_t vpid, uint32_t world_size, const char *nspace)
{
    ompi_mqs_root.jobid = jobid;
    ompi_mqs_root.vpid = vpid;
    ompi_mqs_root.world_size = world_size;
    if (NULL != nspace) {
        ompi_mqs_copy_name(ompi_mqs_root.nspace, sizeof(ompi_mqs_root.nspace), nspace);
    }
}

void ompi_mqs_pml_selected(const char *name)
{
    ompi_mqs_copy_name(ompi_mqs_root.pml, sizeof(ompi_mqs_root.pml), name);
}

/* series: waits */
void ompi_mqs_progress_starts(void)
{
    if (ompi_mqs_root.recording) {
        (void) opal_progress_register_lp(ompi_mqs_sweep);
    }
}

void ompi_mqs_progress_ends(void)
{
    (void) opal_progress_unregister(ompi_mqs_sweep);
}

/* series: end */
/* series: calls */
void ompi_mqs_communicator_made(struct ompi_communicator_t *comm)
{
    comm->c_mqs = ompi_mqs_collectives_create(comm);
}

void ompi_mqs_communicator_gone(struct ompi_communicator_t *comm)
{
    struct ompi_mqs_collectives *record = comm->c_mqs;

    comm->c_mqs = NULL;
    if (NULL != record) {
/* series: waits */
        ompi_mqs_windows_forget(comm);
/* series: end */
        ompi_mqs_collectives_destroy(record);
    }
}

/* A group's members never change: it keeps the hash, for all the communicators that share the group. */
static uint64_t ompi_mqs_hash_group(ompi_group_t *group)
{
    uint64_t hash = OMPI_MQS_HASH_START;
    int i;

    if (0 != group->grp_mqs_hash) {
        return group->grp_mqs_hash;
    }
    for (i = 0; i < group->grp_proc_count; i++) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);

        hash = ompi_mqs_hash_member(hash, name.jobid, name.vpid);
    }
    group->grp_mqs_hash = 0 != hash ? hash : 1;
    return group->grp_mqs_hash;
}

void ompi_mqs_communicator_ready(struct ompi_communicator_t *comm)
{
    struct ompi_mqs_collectives *record = comm->c_mqs;

    if (NULL == record || 0 != record->group_hash) {
        return;
    }
    if (OMPI_COMM_IS_INTER(comm)) {
        record->remote_hash = ompi_mqs_hash_group(comm->c_remote_group);
    }
    OMPI_MQS_ORDER();
    record->group_hash = ompi_mqs_hash_group(comm->c_local_group);
/* series: waits */
#if OMPI_MAJOR_VERSION >= 5
    ompi_mqs_window_name(ompi_mqs_self, comm->c_contextid.cid_base, comm->c_contextid.cid_sub.u64);
#else
    ompi_mqs_window_name(ompi_mqs_self, 0, comm->c_contextid);
#endif
/* series: end */
}

void ompi_mqs_binding_end(const int *const *comm)
{
    struct ompi_communicator_t *found = opal_pointer_array_get_item(&ompi_comm_f_to_c_table, **comm);
    struct ompi_mqs_collectives *record = NULL != found ? found->c_mqs : NULL;
    struct ompi_mqs_call *ring = NULL != record ? ompi_mqs_pointer(record->ring) : NULL;

    if (NULL != ring) {
        struct ompi_mqs_call *newest = &ring[(ompi_mqs_ring_calls(record->position) - 1) % OMPI_MQS_RING];

        newest->caller = ompi_mqs_user_caller(newest->caller);
    }
}

/* series: end */
void ompi_mqs_table_add(struct ompi_mqs_table *table)
{
    ompi_mqs_lock();
    table->next = ompi_mqs_root.tables;
    OMPI_MQS_ORDER();
    ompi_mqs_root.tables = ompi_mqs_address(table);
    ompi_mqs_unlock();
}

void ompi_mqs_table_remove(struct ompi_mqs_table *table)
{
    ompi_mqs_addr_t *link;

    ompi_mqs_lock();
    for (link = &ompi_mqs_root.tables; 0 != *link && *link != ompi_mqs_address(table);
         link = &((struct ompi_mqs_table *) (uintptr_t) *link)->next) {
    }
    if (0 != *link) {
        *link = table->next;
    }
    ompi_mqs_unlock();
}

void ompi_mqs_symbol_set(const char *name, const volatile void *address)
{
    uint32_t i;

    ompi_mqs_lock();
    for (i = 0; i < ompi_mqs_root.symbol_count && 0 != strcmp(ompi_mqs_symbols[i].name, name); i++) {
    }
    if (i < OMPI_MQS_SYMBOLS) {
        ompi_mqs_copy_name(ompi_mqs_symbols[i].name, sizeof(ompi_mqs_symbols[i].name), name);
        ompi_mqs_symbols[i].address = ompi_mqs_address(address);
        ompi_mqs_root.symbols = ompi_mqs_address(ompi_mqs_symbols);
        if (i == ompi_mqs_root.symbol_count) {
            ompi_mqs_root.symbol_count++;
        }
    }
    ompi_mqs_unlock();
}

#include "ompi/mqs/layout_libmpi.h"

static void __attribute__((constructor)) ompi_mqs_describe(void)
{
    snprintf(ompi_mqs_root.release, sizeof(ompi_mqs_root.release), "%d.%d.%d%s", OMPI_MAJOR_VERSION,
             OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION, OMPI_GREEK_VERSION);
    ompi_mqs_layout_libmpi_add();
}

#endif /* OMPI_MQS */
#endif
