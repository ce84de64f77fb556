/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback.h - callbacks of the user's that the library calls: attributes' copy and delete functions, error
 * handlers.
 *
 * What they do is the program's business again: collectives in them count, and the waits of the call around
 * them are no waits meanwhile.  A callback that leaves the library by longjmp or an exception takes the call
 * with it, and no guard of that call ever ends: what OMPI_MQS_CALLBACK has set aside then stays aside.
 */
#ifndef OMPI_MQS_CALLBACK_H
#define OMPI_MQS_CALLBACK_H

#include "ompi/mqs/thread.h"

#if OMPI_MQS

struct ompi_mqs_pending;
struct ompi_request_t;

/* A non-blocking call between its begin and its end, in its MPI function. */
struct ompi_mqs_making {
    struct ompi_mqs_pending *pending;   /* whose request is awaited; NULL: it has one, or the call has failed */
    struct ompi_request_t *made;        /* that the component has said to be this call's */
    struct ompi_request_t **request;    /* the caller's; NULL: no such call */
    struct ompi_request_t *before;      /* what it held */
};

struct ompi_mqs_aside {
    struct ompi_mqs_thread *self;       /* NULL: the thread has no record */
    struct ompi_mqs_outer call;
    uint32_t collective;                /* its class */
    uint32_t generation;                /* of its record */
    uint32_t depth;
    uint32_t outer_depth;
    int over;
    struct ompi_mqs_making making;
};

/* over: the call has failed, and this is its error handler. */
OMPI_DECLSPEC struct ompi_mqs_aside ompi_mqs_callback_begin(int over, const void *frame);
OMPI_DECLSPEC void ompi_mqs_callback_end(struct ompi_mqs_aside *aside);

/* For the rest of the enclosing block. */
#define OMPI_MQS_CALLBACK                                                                                \
    struct ompi_mqs_aside mqs_aside __attribute__((cleanup(ompi_mqs_callback_end), unused)) =           \
        ompi_mqs_callback_begin(0, __builtin_frame_address(0));
#define OMPI_MQS_ERROR_HANDLER                                                                           \
    struct ompi_mqs_aside mqs_aside __attribute__((cleanup(ompi_mqs_callback_end), unused)) =           \
        ompi_mqs_callback_begin(1, __builtin_frame_address(0));

#else

#define OMPI_MQS_CALLBACK
#define OMPI_MQS_ERROR_HANDLER

#endif /* OMPI_MQS */
#endif
