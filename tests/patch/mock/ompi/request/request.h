/* SPDX-License-Identifier: BSD-3-Clause */
/* As much of a request as the recording code touches, and the completion it hooks into. */
#ifndef MOCK_REQUEST_H
#define MOCK_REQUEST_H

#define OMPI_SUCCESS 0

struct ompi_request_t;
typedef int (*ompi_request_complete_fn_t)(struct ompi_request_t *request);

struct ompi_request_t {
    int complete;
    ompi_request_complete_fn_t req_complete_cb;
    void *req_complete_cb_data;
};

#define REQUEST_COMPLETE(request) (__atomic_load_n(&(request)->complete, __ATOMIC_ACQUIRE))

#endif
