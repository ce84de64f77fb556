/* SPDX-License-Identifier: BSD-3-Clause */
#include "madeup.h"

#include <stdlib.h>
#include <string.h>

const struct mpiq_target_sizes mpiq_madeup_64_little = {2, 4, 8, 8, 8, 1, 8, false};
const struct mpiq_target_sizes mpiq_madeup_64_big = {2, 4, 8, 8, 8, 1, 8, true};
const struct mpiq_target_sizes mpiq_madeup_32_little = {2, 4, 4, 8, 4, 1, 4, false};
const struct mpiq_target_sizes mpiq_madeup_32_big = {2, 4, 4, 8, 4, 1, 4, true};

struct madeup {
    struct mpiq_target target;
    struct mpiq_madeup what;
};

static const struct mpiq_madeup *what_of(struct mpiq_target *target)
{
    return &((struct madeup *)target)->what;
}

static struct mpiq_error *no_memory(void)
{
    return mpiq_error_create(MPIQ_ERROR_NO_MEMORY, "out of memory");
}

static const struct mpiq_madeup_segment *segment_at(const struct mpiq_madeup *what, uint64_t address)
{
    for (const struct mpiq_madeup_segment *segment = what->segments; segment && segment->bytes; segment++) {
        if (address >= segment->address && address - segment->address < segment->size)
            return segment;
    }
    return NULL;
}

static struct mpiq_error *madeup_read(struct mpiq_target *target, uint64_t address, size_t size, void *buffer)
{
    for (size_t done = 0; done < size;) {
        const struct mpiq_madeup_segment *segment = segment_at(what_of(target), address + done);
        if (!segment) {
            return mpiq_error_create_address(done ? MPIQ_ERROR_SHORT : MPIQ_ERROR_UNMAPPED, address + done,
                                             "no memory at 0x%llx", (unsigned long long)address + done);
        }
        size_t inside = (size_t)(address + done - segment->address), part = segment->size - inside;
        if (part > size - done)
            part = size - done;
        memcpy((char *)buffer + done, (const char *)segment->bytes + inside, part);
        done += part;
    }
    return NULL;
}

static struct mpiq_error *madeup_find_symbol(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    for (const struct mpiq_madeup_symbol *symbol = what_of(target)->symbols; symbol && symbol->name;
         symbol++) {
        if (strcmp(symbol->name, name) == 0) {
            *ret = symbol->address;
            return NULL;
        }
    }
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no symbol %s", name);
}

static const struct mpiq_madeup_type *type_named(const struct mpiq_madeup *what, const char *name)
{
    if (strncmp(name, "struct ", 7) == 0)
        name += 7;
    for (const struct mpiq_madeup_type *type = what->types; type && type->name; type++) {
        if (strcmp(type->name, name) == 0)
            return type;
    }
    return NULL;
}

static struct mpiq_error *madeup_find_type(struct mpiq_target *target, const char *name,
                                           const struct mpiq_target_type **ret)
{
    const struct mpiq_madeup_type *type = type_named(what_of(target), name);
    if (!type)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no type %s", name);
    *ret = (const struct mpiq_target_type *)type;
    return NULL;
}

static struct mpiq_error *madeup_field_offset(struct mpiq_target *target,
                                              const struct mpiq_target_type *handle, const char *member,
                                              uint64_t *ret)
{
    const struct mpiq_madeup_type *whole = (const struct mpiq_madeup_type *)handle, *type = whole;
    uint64_t offset = 0;
    const char *name = member;
    while (type) {
        size_t length = strcspn(name, ".");
        const struct mpiq_madeup_member *found = type->members;
        while (found && found->name && (strncmp(found->name, name, length) != 0 || found->name[length]))
            found++;
        if (!found || !found->name)
            break;
        offset += found->offset;
        if (!name[length]) {
            *ret = offset;
            return NULL;
        }
        name += length + 1;
        type = found->type ? type_named(what_of(target), found->type) : NULL;
    }
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no member %s in %s", member,
                             whole ? whole->name : "nothing");
}

static struct mpiq_error *madeup_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                           uint64_t *ret)
{
    (void)target;
    *ret = ((const struct mpiq_madeup_type *)type)->size;
    return NULL;
}

static struct mpiq_error *madeup_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret)
{
    *ret = what_of(target)->sizes;
    return NULL;
}

static struct mpiq_error *madeup_status(struct mpiq_target *target, struct mpiq_target_status *ret)
{
    *ret = what_of(target)->status;
    if (!ret->io_bytes)
        ret->io_bytes = -1;
    return NULL;
}

static struct mpiq_error *madeup_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                         size_t *count)
{
    const struct mpiq_madeup_thread *described = what_of(target)->threads;
    size_t used = 0;
    while (described && described[used].tid)
        used++;
    struct mpiq_target_thread *threads = calloc(used + 1, sizeof *threads);
    if (!threads)
        return no_memory();
    for (size_t i = 0; i < used; i++) {
        threads[i].tid = described[i].tid;
        threads[i].state = described[i].state;
        threads[i].cpu_ns = described[i].cpu_ns;
        threads[i].system_call = -1;
        if (described[i].name)
            strncpy(threads[i].name, described[i].name, sizeof threads[i].name - 1);
    }
    *ret = threads;
    *count = used;
    return NULL;
}

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

static struct mpiq_error *madeup_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret)
{
    const struct mpiq_madeup_thread *thread = what_of(target)->threads;
    while (thread && thread->tid && thread->tid != tid)
        thread++;
    if (!thread || !thread->tid)
        return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "no thread %d", (int)tid);
    struct mpiq_target_stack stack = {0};
    while (thread->frames && thread->frames[stack.count].pc)
        stack.count++;
    stack.frames = calloc(stack.count + 1, sizeof *stack.frames);
    if (!stack.frames)
        return no_memory();
    for (size_t i = 0; i < stack.count; i++) {
        stack.frames[i] = thread->frames[i];
        stack.frames[i].function = copy_text(thread->frames[i].function);
        stack.frames[i].file = copy_text(thread->frames[i].file);
        stack.frames[i].object = copy_text(thread->frames[i].object);
    }
    *ret = stack;
    return NULL;
}

static struct mpiq_error *madeup_environment(struct mpiq_target *target, const char *name, char **ret)
{
    size_t length = strlen(name);
    for (const char *const *entry = what_of(target)->environment; entry && *entry; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            *ret = strdup(*entry + length + 1);
            return *ret ? NULL : no_memory();
        }
    }
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "%s is not in the environment", name);
}

static void madeup_destroy(struct mpiq_target *target)
{
    free(target);
}

static const struct mpiq_target_ops madeup_ops = {
    .kind = "made-up",
    .read = madeup_read,
    .find_symbol = madeup_find_symbol,
    .find_type = madeup_find_type,
    .field_offset = madeup_field_offset,
    .type_size = madeup_type_size,
    .sizes = madeup_sizes,
    .status = madeup_status,
    .threads = madeup_threads,
    .stack = madeup_stack,
    .environment = madeup_environment,
    .destroy = madeup_destroy,
};

struct mpiq_error *mpiq_target_madeup_create(const struct mpiq_madeup *what, struct mpiq_target **ret)
{
    struct madeup *madeup = calloc(1, sizeof *madeup);
    if (!madeup)
        return no_memory();
    madeup->target.ops = &madeup_ops;
    madeup->what = *what;
    if (!madeup->what.sizes.pointer_size)
        madeup->what.sizes = mpiq_madeup_64_little;
    *ret = &madeup->target;
    return NULL;
}

void mpiq_madeup_put(const struct mpiq_target_sizes *sizes, void *at, int size, uint64_t value)
{
    unsigned char *bytes = at;
    for (int i = 0; i < size; i++)
        bytes[sizes->big_endian ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}
