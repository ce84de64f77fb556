/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process - what the DLL hangs on the debugger's images and processes, and the look at a process.
 *
 * A look begins with mqs_update_communicator_list: process_refresh drops all that was read before and reads
 * what everything else stands on (the patched library's root, the layout, the list of communicators).  The
 * rest is read when it is first asked for and kept until the next look.
 */
#ifndef MQS_PROCESS_H
#define MQS_PROCESS_H

#include "collective.h"
#include "communicator.h"
#include "datatype.h"
#include "datatype_map.h"
#include "fetch.h"
#include "layout.h"
#include "mpi_interface.h"
#include "nbc.h"
#include "operation.h"
#include "request.h"
#include "root.h"
#include "symbol.h"
#include "unexpected.h"
#include "vector.h"
#include "wait.h"

struct _mqs_image_info {
    const mqs_image_callbacks *callbacks;
};

struct _mqs_process_info {
    mqs_process *process;
    mqs_image *image;
    const mqs_image_callbacks *image_callbacks;
    const mqs_process_callbacks *callbacks;

    bool show_internal; /* mqs_option_internal */
    struct layout layout;
    bool han_asked;
    bool datatypes_asked;
    struct symbols symbols;

    /* Who it is; once it has communicators, not asked again. */
    bool settled;
    mqs_process_name self;
    bool self_known;
    char pml[48]; /* "" if not known */

    /* One look. */
    bool fresh; /* process_refresh has succeeded */
    struct fetch_cache cache;
    struct root root;
    struct datatype_cache datatypes;
    struct communicators communicators;
    struct requests requests;
    struct nbc_requests nbc;

    /* What was asked last and is likely to be asked next: operations come by communicator and peer. */
    struct {
        bool valid;
        mqs_taddr_t group;
        int rank;
        mqs_process_name name;
    } last_member;
    struct {
        bool valid;
        mqs_taddr_t comm;
        int class_;
    } last_collective;

    /* Iterators. */
    size_t current; /* index of the current communicator; communicators.count past the end */
    bool iterating;
    struct operations operations;
    struct messages messages;
    struct calls calls;
    struct calls process_calls;
    struct channels channels;
    struct waits waits;
    struct datatype_map datatype_map;
    mqs_operation_details details; /* of the operation returned last */
    bool details_valid;

    char message[320]; /* for mqs_process_has_queues */
};

/* What everything else stands on: root, layout, PML.  Drops what was read before. */
int process_begin(mqs_process_info *info);

/* Begins a look.  On failure the process has no communicators, and all that needs them returns the code. */
int process_refresh(mqs_process_info *info);

/* The look that is under way, begun if none was. */
int process_ensure(mqs_process_info *info);

/* The current communicator, or NULL. */
const struct communicator *process_current(const mqs_process_info *info);

/* Whether the queues of its PML can be read: mqs_ok, mqs_no_information or what is missing. */
int process_queues(const mqs_process_info *info);

/* han's structures, from debug information if there is any and no table has them. */
void process_find_han(mqs_process_info *info);

/* What datatypes consist of, likewise. */
void process_find_datatypes(mqs_process_info *info);

/* Frees all that a look holds. */
void process_clear(mqs_process_info *info);

#endif
