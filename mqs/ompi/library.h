/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library - the state of the MPI library in one process, as one look finds it.
 *
 * A look drops what the last one read, then reads what everything else needs: the patched library's root,
 * the layout, the PML, the communicators.  The rest is read when first asked for and kept until the next
 * look.  It leaves to others: the form in which a debugger gets it.
 */
#ifndef MQS_OMPI_LIBRARY_H
#define MQS_OMPI_LIBRARY_H

#include <stdbool.h>

#include "built_in.h"
#include "communicator.h"
#include "datatype.h"
#include "group.h"
#include "memory.h"
#include "mpi_interface.h"
#include "nbc.h"
#include "partitioned.h"
#include "request.h"
#include "root.h"
#include "self.h"

struct library {
    struct memory memory;
    struct root root;
    struct built_in built_in;
    struct groups groups;
    char pml[PML_NAME]; /* "" if not known */
    bool settled;       /* name and PML are known for good */

    struct communicators communicators;
    bool marked; /* the library's own communicators are told apart */
    struct datatypes datatypes;

    /* Read when first asked for: library_requests, library_nbc, library_partitioned. */
    struct requests requests;
    bool requests_read;
    int requests_code;
    struct nbc_requests nbc;
    bool nbc_read;
    int nbc_code;
    struct partitioned_requests partitioned;
    bool partitioned_read;
    int partitioned_code;

    struct {
        bool valid;
        mqs_taddr_t comm;
        int class_;
    } last_collective; /* library_collective_on's last answer */
};

/* Connects the parts of a zeroed library; its memory has been set up. */
void library_init(struct library *library);

/* Begins a look: root, layout and PML.  ERROR_LAYOUT where communicators cannot be read. */
int library_begin(struct library *library);

/* Begins a look and reads the communicators; on failure there are none. */
int library_read(struct library *library);

/* Frees what the last look read. */
void library_clear(struct library *library);

/* Whether the queues of its PML can be read: mqs_ok, mqs_no_information or ERROR_LAYOUT. */
int library_queues(const struct library *library);

/* Reads the point-to-point requests, once a look; mqs_ok if library->requests holds them. */
int library_requests(struct library *library);

/* Reads the requests of non-blocking collectives, once a look; mqs_ok if library->nbc holds them. */
int library_nbc(struct library *library);

/* Reads the partitioned requests, once a look; mqs_ok if library->partitioned holds them, mqs_no_information
   where the library has none or they cannot be told. */
int library_partitioned(struct library *library);

/* Whether a request is the library's own, not the user's: by its tag or its communicator. */
bool library_is_own(struct library *library, const struct request *request);

/* Identifies the library's own communicators, once per look, before `internal` or `parent` is used. */
void library_mark_communicators(struct library *library);

/* Class of the collective that some thread is in on this communicator, or on the one that it serves; -1 if
   none is, or different ones are. */
int library_collective_on(struct library *library, mqs_taddr_t comm);

#endif
