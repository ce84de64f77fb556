/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up_private.h"

static struct made_up_counts counts;

struct made_up_counts *made_up_counts(void)
{
    return &counts;
}

static unsigned long fail_after;
static bool fail_once;

void made_up_fail_after(unsigned long n, bool once)
{
    fail_after = n;
    fail_once = once;
}

/* Each block remembers its size in front. */
static void *count_malloc(size_t size)
{
    size_t *block = fail_after == 1 ? NULL : malloc(size + 2 * sizeof *block);

    if (fail_after > 1 || (fail_after == 1 && fail_once)) {
        fail_after--;
    }

    if (block == NULL) {
        return NULL;
    }
    *block = size;
    counts.blocks++;
    counts.allocated += size;
    if (counts.allocated > counts.peak) {
        counts.peak = counts.allocated;
    }
    return block + 2;
}

static void count_free(void *memory)
{
    size_t *block = (size_t *)memory - 2;

    counts.blocks--;
    counts.allocated -= *block;
    free(block);
}

static void print(const char *text)
{
    (void)text;
}

static char *error_string(int code)
{
    (void)code;
    return "a code of the made-up process";
}

static void put_image_info(mqs_image *image, mqs_image_info *info)
{
    image->info = info;
}

static mqs_image_info *get_image_info(mqs_image *image)
{
    return image->info;
}

static void put_process_info(mqs_process *process, mqs_process_info *info)
{
    process->info = info;
}

static mqs_process_info *get_process_info(mqs_process *process)
{
    return process->info;
}

const mqs_basic_callbacks made_up_basic_callbacks = {
    count_malloc,     count_free,       print, error_string, put_image_info, get_image_info,
    put_process_info, get_process_info,
};

static int get_rank(mqs_process *process)
{
    (void)process;
    return 0;
}

static mqs_image *get_image(mqs_process *process)
{
    return &process->owner->image;
}

static uint64_t next_random(struct made_up *made_up)
{
    made_up->motion = made_up->motion * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return made_up->motion >> 33;
}

/* What a running process does: a word becomes a small number, a pointer elsewhere, or something else. */
static void move(struct made_up *made_up)
{
    uint64_t kind = next_random(made_up) % 4;
    size_t index = next_random(made_up) % made_up_bytes(made_up) & ~(size_t)7;
    uint64_t value = next_random(made_up);

    if (kind == 3) {
        return;
    }
    value = kind == 0   ? value % 8
            : kind == 1 ? made_up_address(made_up, value % made_up_bytes(made_up)) & ~UINT64_C(7)
                        : value;
    for (size_t i = 0; i < 8 && index + i < made_up_bytes(made_up); i++) {
        *made_up_byte(made_up, index + i) = (unsigned char)(value >> 8 * i);
    }
}

static int fetch_data(mqs_process *process, mqs_taddr_t address, int size, void *buffer)
{
    const unsigned char *bytes;

    counts.fetches++;
    if (process->owner->motion != 0) {
        move(process->owner);
    }
    if (size < 0) {
        return 100;
    }
    counts.bytes += (unsigned long)size;
    bytes = made_up_find(process->owner, address, (size_t)size);
    if (bytes == NULL) {
        return 100;
    }
    memcpy(buffer, bytes, (size_t)size);
    if (process->owner->after_fetch != NULL) {
        process->owner->after_fetch(process->owner, address, (size_t)size);
    }
    return mqs_ok;
}

static void target_to_host(mqs_process *process, const void *from, void *to, int size)
{
    const int one = 1;
    bool host_big = *(const char *)&one == 0;
    const unsigned char *in = from;
    unsigned char *out = to;

    for (int i = 0; i < size; i++) {
        out[process->owner->big_endian == host_big ? i : size - 1 - i] = in[i];
    }
}

static void get_type_sizes(mqs_process *process, mqs_target_type_sizes *sizes)
{
    sizes->short_size = 2;
    sizes->int_size = 4;
    sizes->long_size = process->owner->pointer_size;
    sizes->long_long_size = 8;
    sizes->pointer_size = process->owner->pointer_size;
    sizes->bool_size = 1;
    sizes->size_t_size = process->owner->pointer_size;
}

static int find_symbol(mqs_image *image, char *name, mqs_taddr_t *address)
{
    mqs_taddr_t found = made_up_find_symbol(image->owner, name);

    if (found == 0) {
        return 100;
    }
    *address = found;
    return mqs_ok;
}

static int find_function(mqs_image *image, char *name, mqs_lang_code language, mqs_taddr_t *address)
{
    (void)language;
    return find_symbol(image, name, address);
}

static mqs_type *find_type(mqs_image *image, char *name, mqs_lang_code language)
{
    int index = image->owner->stripped ? -1 : made_up_type_index(image->owner, name);

    (void)language;
    return index < 0 ? NULL : &image->owner->types[index];
}

static int field_offset(mqs_type *type, char *member)
{
    const struct member *found = made_up_find_member(type->owner, (int)(type - type->owner->types), member);

    return found == NULL ? -1 : found->offset;
}

static int size_of(mqs_type *type)
{
    return type->size;
}

static const mqs_image_callbacks image_callbacks = {
    get_type_sizes, find_function, find_symbol, find_type, field_offset, size_of,
};

static const mqs_process_callbacks process_callbacks = {
    get_rank,
    get_image,
    fetch_data,
    target_to_host,
};

int made_up_open(struct made_up *made_up)
{
    char *message = NULL;
    int code;

    mqs_setup_basic_callbacks(&made_up_basic_callbacks);
    code = mqs_setup_image(&made_up->image, &image_callbacks);
    if (code == mqs_ok) {
        code = mqs_image_has_queues(&made_up->image, &message);
    }
    if (code == mqs_ok) {
        code = mqs_setup_process(&made_up->process, &process_callbacks);
    }
    if (code == mqs_ok) {
        code = mqs_process_has_queues(&made_up->process, &message);
    }
    return code;
}

void made_up_close(struct made_up *made_up)
{
    mqs_destroy_process_info(made_up->process.info);
    mqs_destroy_image_info(made_up->image.info);
    made_up->process.info = NULL;
    made_up->image.info = NULL;
}
