/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "error.h"
#include "identity.h"
#include "process.h"

#define PML_READ "ob1"

void process_clear(mqs_process_info *info)
{
    info->fresh = false;
    info->iterating = false;
    info->details_valid = false;
    fetch_cache_clear(&info->cache);
    communicators_clear(&info->communicators);
    requests_clear(&info->requests);
    nbc_clear(&info->nbc);
    messages_clear(&info->messages);
    channels_clear(&info->channels);
    waits_clear(&info->waits);
    datatype_map_clear(&info->datatype_map);
    memset(&info->operations, 0, sizeof info->operations);
    memset(&info->calls, 0, sizeof info->calls);
    memset(&info->process_calls, 0, sizeof info->process_calls);
    memset(&info->datatypes, 0, sizeof info->datatypes);
    memset(&info->last_member, 0, sizeof info->last_member);
    memset(&info->last_collective, 0, sizeof info->last_collective);
}

/* Debug information fills what no table told; asked again while something is missing, since components are
   loaded as the process goes. */
static void complete_layout(mqs_process_info *info)
{
    enum mqs_layout_source tables = info->layout.source;

    if (tables == mqs_layout_tables && layout_has_group(&info->layout, GROUP_COMMUNICATORS)) {
        return;
    }
    if (!layout_has_group(&info->layout, GROUP_COMMUNICATORS) ||
        !layout_has_group(&info->layout, GROUP_REQUESTS) || !layout_has_group(&info->layout, GROUP_OB1) ||
        !layout_has_group(&info->layout, GROUP_LIBNBC)) {
        layout_add_debug_info(&info->layout, info->image, info->image_callbacks);
    }
    if (tables == mqs_layout_tables) {
        info->layout.source = tables;
    }
}

void process_find_han(mqs_process_info *info)
{
    enum mqs_layout_source source = info->layout.source;

    /* Only lines with a c_index use han on their own accord, and only for communicators that it has split;
       debug information is asked once, since it may take its time. */
    if (info->han_asked || source != mqs_layout_tables || layout_has(&info->layout, AT_HAN) ||
        !layout_has(&info->layout, AT_COMM_INDEX) || info->communicators.list.count <= 2) {
        return;
    }
    info->han_asked = true;
    layout_add_debug_info(&info->layout, info->image, info->image_callbacks);
    info->layout.source = source;
}

void process_find_datatypes(mqs_process_info *info)
{
    enum mqs_layout_source source = info->layout.source;

    if (info->datatypes_asked || (layout_has_group(&info->layout, GROUP_DATATYPES) &&
                                  layout_has_group(&info->layout, GROUP_CONSTRUCTORS))) {
        return;
    }
    info->datatypes_asked = true;
    layout_add_datatypes(&info->layout, info->image, info->image_callbacks);
    info->layout.source = source;
}

int process_begin(mqs_process_info *info)
{
    int code;

    process_clear(info);
    symbol_retry(&info->symbols);
    symbol_expect(info);
    code = root_read(info);
    if (code != mqs_ok) {
        return code;
    }
    complete_layout(info);
    if (!layout_has_group(&info->layout, GROUP_COMMUNICATORS)) {
        return ERROR_LAYOUT;
    }
    identity_read_pml(info);
    return mqs_ok;
}

int process_refresh(mqs_process_info *info)
{
    int code = process_begin(info);

    if (code == mqs_ok) {
        identity_read_name(info);
        code = communicators_read(info);
    }
    if (code != mqs_ok) {
        communicators_clear(&info->communicators);
        return code;
    }
    info->fresh = true;
    info->settled = info->communicators.list.count > 0 && info->self_known && info->pml[0] != '\0';
    return mqs_ok;
}

int process_ensure(mqs_process_info *info)
{
    return info->fresh ? mqs_ok : process_refresh(info);
}

const struct communicator *process_current(const mqs_process_info *info)
{
    return info->iterating ? communicator_at(info, info->current) : NULL;
}

int process_queues(const mqs_process_info *info)
{
    if (strcmp(info->pml, PML_READ) != 0) {
        return mqs_no_information;
    }
    return layout_has_group(&info->layout, GROUP_REQUESTS) ? mqs_ok : ERROR_LAYOUT;
}
