/* SPDX-License-Identifier: BSD-3-Clause */
/* As much of a request as the recording code touches, and the completion it hooks into. */
#ifndef MOCK_REQUEST_H
#define MOCK_REQUEST_H

#include <stdbool.h>

#define OMPI_SUCCESS 0
#define OMPI_ERROR -1

enum { OMPI_REQUEST_PML, OMPI_REQUEST_COLL };
enum { OMPI_REQUEST_INACTIVE, OMPI_REQUEST_ACTIVE };

struct ompi_request_t;
struct ompi_mqs_pending;
typedef int (*ompi_request_complete_fn_t)(struct ompi_request_t *request);
typedef int (*ompi_request_free_fn_t)(struct ompi_request_t **request);

struct ompi_request_t {
    int complete;
    int req_type;
    int req_state;
    bool req_persistent;
    ompi_request_free_fn_t req_free;
    struct ompi_mqs_pending *req_mqs;
    ompi_request_complete_fn_t req_complete_cb;
    void *req_complete_cb_data;
};

#define REQUEST_COMPLETE(request) (__atomic_load_n(&(request)->complete, __ATOMIC_ACQUIRE))

#endif
