/* SPDX-License-Identifier: BSD-3-Clause */
#include "process.h"

#include "../callbacks.h"
#include "../error.h"

static void rewind_all(mqs_process_info *info)
{
    info->iterating = false;
    info->comm = NULL;
    info->details_valid = false;
    info->calls = -1;
    heap_free(info->channels);
    info->channels = NULL;
    info->channel_count = info->next_channel = 0;
    operations_clear(&info->operations);
    operations_clear(&info->wait_operations);
    info->next_operation = info->next_wait_operation = 0;
    info->threads_seen = MPIQ_RECORD_MAX_THREADS + 1;
    info->history_threads_seen = MPIQ_RECORD_MAX_THREADS + 1;
    info->history_next = info->history_end = 0;
    info->window = NULL;
    info->window_peers = NULL;
    info->next_window = 0;
}

int process_refresh(mqs_process_info *info)
{
    int code = mqs_ok;

    rewind_all(info);
    info->read = false;
    fetch_cache_clear(&info->fetch.cache);
    if (info->root == 0) {
        code =
            info->image_callbacks->mqs_find_symbol_fp(info->image, (char *)"mpiq_record_root", &info->root);
    }
    if (code != mqs_ok) {
        info->root = 0;
        return ERROR_SYMBOL;
    }
    code = copy_read(&info->copy, &info->fetch, info->root);
    info->read = code == mqs_ok;
    return code;
}

int process_ensure(mqs_process_info *info)
{
    return info->read ? mqs_ok : process_refresh(info);
}

void process_clear(mqs_process_info *info)
{
    rewind_all(info);
    copy_clear(&info->copy);
    fetch_cache_clear(&info->fetch.cache);
}
