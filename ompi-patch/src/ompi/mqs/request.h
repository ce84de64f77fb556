/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - where collective requests are made and started: the hooks below the MPI functions.
 *
 * A non-blocking collective is active until its request completes, whoever completes it.  Its record learns
 * of that from the request's completion callback.  A component that makes requests which another thread
 * may complete at any moment says so with OMPI_MQS_REQUEST_MADE before it lets the request go; requests
 * of other components are taken over when the MPI function returns.
 */
#ifndef OMPI_MQS_REQUEST_H
#define OMPI_MQS_REQUEST_H

#include "ompi/mqs/thread.h"

#if OMPI_MQS

struct ompi_request_t;

/* request was made on the communicator with this record, and is not yet known to any other thread. */
OMPI_DECLSPEC void ompi_mqs_request_made(struct ompi_request_t *request,
                                         const struct ompi_mqs_collectives *record);

/* Around the start of requests, of which some may be persistent collectives. */
OMPI_DECLSPEC void ompi_mqs_request_starting(struct ompi_request_t *request, const void *caller);
OMPI_DECLSPEC void ompi_mqs_request_started(struct ompi_request_t *request, int failed);
OMPI_DECLSPEC void ompi_mqs_requests_started(size_t count, struct ompi_request_t **requests, int failed);

/* A persistent collective's request is about to be freed. */
OMPI_DECLSPEC void ompi_mqs_request_forget(struct ompi_request_t *request);

#define OMPI_MQS_IS_PERSISTENT_COLLECTIVE(request) \
    (OMPI_MQS_RARELY(OMPI_REQUEST_PML != (request)->req_type && (request)->req_persistent))

#define OMPI_MQS_REQUEST_MADE(request, comm) \
    ompi_mqs_request_made((request), (comm)->c_mqs);

#define OMPI_MQS_REQUEST_STARTING(request)                                      \
    if (OMPI_MQS_IS_PERSISTENT_COLLECTIVE(request)) {                           \
        ompi_mqs_request_starting((request), __builtin_return_address(0));      \
    }
#define OMPI_MQS_REQUEST_STARTED(request, result)                               \
    if (OMPI_MQS_IS_PERSISTENT_COLLECTIVE(request)) {                           \
        ompi_mqs_request_started((request), OMPI_SUCCESS != (result));          \
    }
/* MPI_Startall: what a call of start says; and of requests that were not started after all. */
#define OMPI_MQS_REQUESTS_START(start, count, requests)                         \
    if (OMPI_REQUEST_PML == (requests)[0]->req_type) {                          \
        (start)((count), (requests));                                           \
    } else {                                                                    \
        ompi_mqs_requests_started((count), (requests), OMPI_SUCCESS != (start)((count), (requests))); \
    }
#define OMPI_MQS_REQUESTS_REFUSED(count, requests) \
    ompi_mqs_requests_started((count), (requests), 1);
#define OMPI_MQS_REQUEST_FORGET(request)                                        \
    if (OMPI_MQS_IS_PERSISTENT_COLLECTIVE(request)) {                           \
        ompi_mqs_request_forget(request);                                       \
    }

#else

#define OMPI_MQS_REQUEST_MADE(request, comm)
#define OMPI_MQS_REQUEST_STARTING(request)
#define OMPI_MQS_REQUEST_STARTED(request, result)
#define OMPI_MQS_REQUESTS_START(start, count, requests) (start)((count), (requests));
#define OMPI_MQS_REQUESTS_REFUSED(count, requests)
#define OMPI_MQS_REQUEST_FORGET(request)

#endif /* OMPI_MQS */
#endif
