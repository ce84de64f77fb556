/* SPDX-License-Identifier: BSD-3-Clause */
#include "made_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mpiq_target_type {
    int bytes;
};

static const struct mpiq_target_type thing = {24};

static struct mpiq_error *made_up_read(struct mpiq_target *target, uint64_t address, size_t size,
                                       void *buffer)
{
    struct made_up *made_up = (struct made_up *)target;
    made_up->reads++;
    if (address < MADE_UP_BASE || address + size > MADE_UP_BASE + MADE_UP_SIZE) {
        return mpiq_error_create_address(MPIQ_ERROR_UNMAPPED, address, "nothing is mapped at 0x%llx",
                                         (unsigned long long)address);
    }
    memcpy(buffer, made_up->memory + (address - MADE_UP_BASE), size);
    return NULL;
}

static struct mpiq_error *not_found(const char *name)
{
    return mpiq_error_create(MPIQ_ERROR_NOT_FOUND, "there is no %s", name);
}

static struct mpiq_error *made_up_symbol(struct mpiq_target *target, const char *name, uint64_t *ret)
{
    struct made_up *made_up = (struct made_up *)target;
    if (strcmp(name, "where") == 0)
        *ret = (uint64_t)made_up->where;
    else if (strcmp(name, "memory") == 0)
        *ret = MADE_UP_BASE;
    else
        return not_found(name);
    return NULL;
}

static struct mpiq_error *made_up_type(struct mpiq_target *target, const char *name,
                                       const struct mpiq_target_type **ret)
{
    (void)target;
    if (strcmp(name, "struct thing") != 0)
        return not_found(name);
    *ret = &thing;
    return NULL;
}

static struct mpiq_error *made_up_field(struct mpiq_target *target, const struct mpiq_target_type *type,
                                        const char *member, uint64_t *ret)
{
    (void)target;
    (void)type;
    if (strcmp(member, "part") != 0)
        return not_found(member);
    *ret = 8;
    return NULL;
}

static struct mpiq_error *made_up_type_size(struct mpiq_target *target, const struct mpiq_target_type *type,
                                            uint64_t *ret)
{
    (void)target;
    *ret = (uint64_t)type->bytes;
    return NULL;
}

static struct mpiq_error *made_up_sizes(struct mpiq_target *target, struct mpiq_target_sizes *ret)
{
    struct made_up *made_up = (struct made_up *)target;
    *ret = (struct mpiq_target_sizes){2, 4, 8, 8, 8, 1, 8, made_up->big_endian};
    return NULL;
}

static struct mpiq_error *made_up_status(struct mpiq_target *target, struct mpiq_target_status *ret)
{
    (void)target;
    *ret = (struct mpiq_target_status){
        .pid = 4711, .state = 'S', .traced = true, .uid = (uid_t)-1, .cpu_ns = 5, .io_bytes = -1};
    snprintf(ret->host, sizeof ret->host, "n1");
    snprintf(ret->executable, sizeof ret->executable, "/home/me/a.out");
    return NULL;
}

static struct mpiq_error *made_up_threads(struct mpiq_target *target, struct mpiq_target_thread **ret,
                                          size_t *count)
{
    (void)target;
    *ret = calloc(2, sizeof **ret);
    (*ret)[0] = (struct mpiq_target_thread){.tid = 4711, .state = 'S', .cpu_ns = 3, .name = "a.out"};
    (*ret)[1] = (struct mpiq_target_thread){.tid = 4712, .state = 'R', .cpu_ns = 2, .name = "helper"};
    *count = 2;
    return NULL;
}

static struct mpiq_error *made_up_stack(struct mpiq_target *target, pid_t tid, struct mpiq_target_stack *ret)
{
    (void)target;
    static const struct {
        const char *function;
        const char *file;
        int line;
        const char *object;
    } frames[] = {{"poll", NULL, 0, "/lib/libc.so.6"},
                  {"PMPI_Recv", NULL, 0, "/opt/lib/libmpi.so"},
                  {"MPI_Recv", NULL, 0, "/opt/lib/libtool.so"},
                  {"solve", "solver.c", 71, "/home/me/a.out"},
                  {"main", "solver.c", 90, "/home/me/a.out"}};
    if (tid != 4711)
        return mpiq_error_create(MPIQ_ERROR_GONE, "thread %d has ended", (int)tid);
    ret->count = sizeof frames / sizeof *frames;
    ret->frames = calloc(ret->count, sizeof *ret->frames);
    for (size_t i = 0; i < ret->count; i++) {
        ret->frames[i] = (struct mpiq_target_frame){.pc = 0x400000 + i,
                                                    .function = strdup(frames[i].function),
                                                    .file = frames[i].file ? strdup(frames[i].file) : NULL,
                                                    .line = frames[i].line,
                                                    .object = strdup(frames[i].object)};
    }
    ret->truncated = true;
    ret->why = strdup("as a test");
    return NULL;
}

static struct mpiq_error *made_up_environment(struct mpiq_target *target, const char *name, char **ret)
{
    (void)target;
    const char *value = strcmp(name, "RANK_NAME") == 0        ? "a\n\"b\""
                        : strcmp(name, "PMIX_RANK") == 0      ? "3"
                        : strcmp(name, "PMIX_NAMESPACE") == 0 ? "77"
                        : strcmp(name, "PMI_SIZE") == 0       ? "8"
                                                              : NULL;
    if (!value)
        return not_found(name);
    *ret = strdup(value);
    return NULL;
}

static void made_up_forget(struct mpiq_target *target)
{
    ((struct made_up *)target)->forgotten++;
}

static void made_up_destroy(struct mpiq_target *target)
{
    (void)target;
}

static const struct mpiq_target_ops ops = {
    .kind = "made-up",
    .read = made_up_read,
    .find_symbol = made_up_symbol,
    .find_type = made_up_type,
    .field_offset = made_up_field,
    .type_size = made_up_type_size,
    .sizes = made_up_sizes,
    .status = made_up_status,
    .threads = made_up_threads,
    .stack = made_up_stack,
    .environment = made_up_environment,
    .forget = made_up_forget,
    .destroy = made_up_destroy,
};

void made_up_init(struct made_up *made_up)
{
    memset(made_up, 0, sizeof *made_up);
    made_up->target.ops = &ops;
    for (size_t i = 0; i < MADE_UP_SIZE; i++)
        made_up->memory[i] = (unsigned char)(i * 7);
}
