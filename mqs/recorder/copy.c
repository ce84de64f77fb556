/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../callbacks.h"
#include "../error.h"
#include "mqs_extensions.h"

#define PIECE (1u << 20)

/* fetch_bytes takes sizes as int, like the callbacks; pieces stay well below the limit. */
static int fetch_arena(struct copy *copy, struct fetch *fetch)
{
    for (size_t at = 0; at < copy->size;) {
        size_t piece = copy->size - at < PIECE ? copy->size - at : PIECE;
        int code = fetch_exact(fetch, copy->root.arena + at, piece, copy->bytes + at);

        if (code != mqs_ok) {
            return code;
        }
        at += piece;
    }
    return mqs_ok;
}

static int check_root(const struct mpiq_record_root *root)
{
    if (memcmp(root->magic, MPIQ_RECORD_MAGIC, sizeof root->magic) != 0) {
        return mqs_no_information;
    }
    if (root->byte_order != MPIQ_RECORD_BYTE_ORDER || root->version_major != MPIQ_RECORD_VERSION_MAJOR) {
        return ERROR_ROOT_VERSION;
    }
    if (root->size < sizeof *root || root->arena_used > MPIQ_RECORD_ARENA || root->arena_used < 64 ||
        (root->handle_size != 4 && root->handle_size != 8)) {
        return ERROR_ROOT_CORRUPT;
    }
    return mqs_ok;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static int compare_tables(const void *left, const void *right)
{
    const struct mpiq_record_request *a = *(const struct mpiq_record_request *const *)left;
    const struct mpiq_record_request *b = *(const struct mpiq_record_request *const *)right;

    return a < b ? -1 : a > b;
}

static int compare_comms(const void *left, const void *right)
{
    const struct mpiq_record_request *a = *(const struct mpiq_record_request *const *)left;
    const struct mpiq_record_request *b = *(const struct mpiq_record_request *const *)right;

    return a->comm != b->comm ? (a->comm < b->comm ? -1 : 1) : compare_tables(left, right);
}

static int compare_handles(const void *left, const void *right)
{
    const struct mpiq_record_request *a = *(const struct mpiq_record_request *const *)left;
    const struct mpiq_record_request *b = *(const struct mpiq_record_request *const *)right;

    return a->handle != b->handle ? (a->handle < b->handle ? -1 : 1) : compare_tables(left, right);
}

/* A corrupt list ends at the first bad reference. */
static size_t gather_requests(const struct copy *copy, const struct mpiq_record_request **requests)
{
    const struct mpiq_record_chunk *chunk = copy_at(copy, copy->root.chunks, sizeof *chunk);
    size_t most = copy->size / sizeof *chunk; /* only a cyclic list has more */
    size_t count = 0;

    most = most < MPIQ_RECORD_MAX_CHUNKS ? most : MPIQ_RECORD_MAX_CHUNKS;
    for (size_t i = 0; i < most && chunk != NULL; i++) {
        for (size_t k = 0; k < MPIQ_RECORD_CHUNK; k++) {
            if (chunk->requests[k].state == MPIQ_RECORD_REQUEST_FREE) {
                continue;
            }
            if (requests != NULL) {
                requests[count] = &chunk->requests[k];
            }
            count++;
        }
        chunk = copy_at(copy, chunk->next, sizeof *chunk);
    }
    return count;
}

static int index_requests(struct copy *copy)
{
    size_t count = gather_requests(copy, NULL);

    copy->by_comm = heap_allocate(count + 1, sizeof *copy->by_comm);
    copy->by_handle = heap_allocate(count + 1, sizeof *copy->by_handle);
    if (copy->by_comm == NULL || copy->by_handle == NULL) {
        return ERROR_NO_STORE;
    }
    copy->request_count = gather_requests(copy, copy->by_comm);
    memcpy(copy->by_handle, copy->by_comm, count * sizeof *copy->by_handle);
    qsort(copy->by_comm, count, sizeof *copy->by_comm, compare_comms);
    qsort(copy->by_handle, count, sizeof *copy->by_handle, compare_handles);
    return mqs_ok;
}

void copy_requests_of(const struct copy *copy, const struct mpiq_record_comm *comm,
                      struct copy_requests *walk)
{
    size_t low = 0;
    size_t high = copy->request_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (copy->by_comm[middle]->comm < (size_t)((const unsigned char *)comm - copy->bytes)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    walk->comm = comm;
    walk->next = low;
}

const struct mpiq_record_request *copy_next_request(const struct copy *copy, struct copy_requests *walk)
{
    const struct mpiq_record_request *request =
        walk->next < copy->request_count ? copy->by_comm[walk->next++] : NULL;

    return request != NULL && copy_comm(copy, request->comm) == walk->comm ? request : NULL;
}

const struct mpiq_record_request *copy_request(const struct copy *copy, uint64_t handle)
{
    size_t low = 0;
    size_t high = copy->request_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (copy->by_handle[middle]->handle < handle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < copy->request_count && copy->by_handle[low]->handle == handle ? copy->by_handle[low] : NULL;
}

/* ---- the copy ------------------------------------------------------------------------------------------ */

int copy_read(struct copy *copy, struct fetch *fetch, mqs_taddr_t root)
{
    unsigned char last;
    int code;

    copy_clear(copy);
    code = fetch_exact(fetch, root, sizeof copy->root, &copy->root);
    if (code == mqs_ok) {
        code = check_root(&copy->root);
    }
    if (code != mqs_ok) {
        return code;
    }
    copy->root.nspace[sizeof copy->root.nspace - 1] = '\0';
    copy->root.library[sizeof copy->root.library - 1] = '\0';
    /* A false size costs no memory: reading its last byte fails. */
    code = fetch_exact(fetch, copy->root.arena + copy->root.arena_used - 1, 1, &last);
    if (code != mqs_ok) {
        return code;
    }
    copy->size = (size_t)copy->root.arena_used;
    copy->bytes = heap_allocate(copy->size, 1);
    if (copy->bytes == NULL) {
        copy->size = 0;
        return ERROR_NO_STORE;
    }
    code = fetch_arena(copy, fetch);
    if (code == mqs_ok) {
        code = index_requests(copy);
    }
    if (code != mqs_ok) {
        copy_clear(copy);
    }
    return code;
}

void copy_clear(struct copy *copy)
{
    heap_free(copy->by_comm);
    heap_free(copy->by_handle);
    heap_free(copy->bytes);
    memset(copy, 0, sizeof *copy);
}

const void *copy_at(const struct copy *copy, uint64_t offset, size_t size)
{
    if (offset == 0 || offset % 8 != 0 || size > copy->size || offset > copy->size - size) {
        return NULL;
    }
    return copy->bytes + offset;
}

const struct mpiq_record_comm *copy_comm(const struct copy *copy, uint32_t offset)
{
    return copy_at(copy, offset, sizeof(struct mpiq_record_comm));
}

const struct mpiq_record_comm *copy_listed_comm(const struct copy *copy, uint32_t offset, unsigned *seen)
{
    size_t most = copy->size / sizeof(struct mpiq_record_comm);

    most = most < MPIQ_RECORD_MAX_COMMS ? most : MPIQ_RECORD_MAX_COMMS;
    return (*seen)++ >= most ? NULL : copy_comm(copy, offset);
}

const struct mpiq_record_function *copy_function(const struct copy *copy, unsigned index)
{
    size_t size = sizeof(struct mpiq_record_function);
    const struct mpiq_record_function *function =
        index >= copy->root.function_count ? NULL : copy_at(copy, copy->root.functions + index * size, size);

    return function != NULL && memchr(function->name, '\0', sizeof function->name) != NULL ? function : NULL;
}

const struct mpiq_record_group *copy_group(const struct copy *copy, uint32_t offset)
{
    const struct mpiq_record_group *group = copy_at(copy, offset, sizeof *group);
    uint64_t members = 0;

    if (group == NULL || group->run_count > copy->size / sizeof *group->runs ||
        copy_at(copy, offset, sizeof *group + group->run_count * sizeof *group->runs) == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < group->run_count; i++) {
        members += group->runs[i].count;
    }
    return members == group->count ? group : NULL;
}

void copy_type_name(const struct copy *copy, uint64_t handle, char *name, size_t size)
{
    size_t count = MPIQ_RECORD_MAX_TYPES;
    const struct mpiq_record_type *types = copy_at(copy, copy->root.types, count * sizeof *types);

    name[0] = '\0';
    for (size_t i = 0; handle != 0 && types != NULL && i < count; i++) {
        if (types[i].handle == handle) {
            text_copy(name, size, (const unsigned char *)types[i].name, sizeof types[i].name);
            return;
        }
    }
}

void copy_op_name(const struct copy *copy, uint64_t handle, char *name, size_t size)
{
    size_t count = MPIQ_RECORD_MAX_OPS;
    const struct mpiq_record_op *ops = copy_at(copy, copy->root.ops, count * sizeof *ops);

    name[0] = '\0';
    for (size_t i = 0; handle != 0 && ops != NULL && i < count; i++) {
        if (ops[i].handle == handle) {
            text_copy(name, size, (const unsigned char *)ops[i].name, sizeof ops[i].name);
            return;
        }
    }
    if (handle != 0 && ops != NULL && ops[0].handle != 0) {
        snprintf(name, size, "%s", MQS_USER_OP);
    }
}

int64_t copy_time(const struct copy *copy, uint64_t cycles)
{
    const struct mpiq_record_moment *first = &copy->root.first;
    const struct mpiq_record_moment *last = &copy->root.last;
    double rate;
    double ns;
    int64_t time;

    if (cycles == 0 || last->cycles <= first->cycles || last->ns <= first->ns) {
        return 0;
    }
    rate = (double)(last->ns - first->ns) / (double)(last->cycles - first->cycles);
    ns = (double)(int64_t)(cycles - last->cycles) * rate;
    return ns > -9e17 && ns < 9e17 && !__builtin_add_overflow(last->ns, (int64_t)ns, &time) ? time : 0;
}

const struct mpiq_record_call *copy_current_call(const struct mpiq_record_thread *thread)
{
    const struct mpiq_record_call *call;

    if (thread->tid == 0 || thread->calls == 0) {
        return NULL;
    }
    call = &thread->history[(thread->calls - 1) % MPIQ_RECORD_HISTORY];
    return call->end == 0 ? call : NULL;
}

const struct mpiq_record_thread *copy_next_thread(const struct copy *copy, uint32_t *offset, unsigned *count)
{
    const struct mpiq_record_thread *thread;

    if (*count > MPIQ_RECORD_MAX_THREADS || *count > copy->size / sizeof *thread) {
        return NULL;
    }
    if (*count == 0) {
        *offset = copy->root.threads;
    } else {
        thread = copy_at(copy, *offset, sizeof *thread);
        *offset = thread == NULL ? 0 : thread->next;
    }
    ++*count;
    return copy_at(copy, *offset, sizeof *thread);
}
