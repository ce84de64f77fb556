/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm_request.h"
#include "list.h"
#include "request.h"

#define MAX_STEPS 1024
#define MAX_STEP 16 /* requests of one step; the library has room for two */

bool comm_request_step(struct memory *memory, mqs_taddr_t request, mqs_taddr_t *array, int *count)
{
    const struct layout *layout = &memory->layout;
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    struct list_walk steps;
    mqs_taddr_t step;
    int64_t there;

    if (!layout_has(layout, AT_COMM_REQUEST_SCHEDULE) || !layout_has(layout, AT_COMM_STEP_REQUESTS) ||
        !layout_has(layout, AT_COMM_STEP_COUNT) || !layout_has_group(layout, GROUP_REQUESTS) ||
        fetch_structure(memory, request, AT_COMM_REQUEST, bytes) != mqs_ok ||
        field_unsigned(memory, bytes, AT_REQUEST_TYPE) != REQUEST_IS_COMM) {
        return false;
    }
    if (list_start(memory, request + (mqs_taddr_t)layout->offset[AT_COMM_REQUEST_SCHEDULE], MAX_STEPS,
                   &steps) != mqs_ok ||
        list_next(memory, &steps, &step) != mqs_ok ||
        fetch_structure(memory, step, AT_COMM_STEP, bytes) != mqs_ok) {
        return false;
    }
    there = field_signed(memory, bytes, AT_COMM_STEP_COUNT);
    if (there <= 0 || there > MAX_STEP) {
        return false;
    }
    *array = step + (mqs_taddr_t)layout->offset[AT_COMM_STEP_REQUESTS];
    *count = (int)there;
    return true;
}
