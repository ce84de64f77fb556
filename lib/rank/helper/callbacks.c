/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks - the debugger's side of the interface, over a target. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/debug.h"
#include "reading.h"

/* A DLL that asks for more at once has read a length wrongly. */
#define FETCH_MAX (1 << 28)

/* What the target could not do is kept, to be said when the DLL fails over it. */
static int code_of(struct mpiq_reading *reading, struct mpiq_error *error)
{
    if (!error)
        return mqs_ok;
    mpiq_error_destroy(reading->trouble);
    reading->trouble = error;
    return mqs_no_information;
}

/* Not finding a symbol or a type is an answer, no trouble. */
static int code_of_search(struct mpiq_reading *reading, struct mpiq_error *error)
{
    if (error && error->code == MPIQ_ERROR_NOT_FOUND) {
        mpiq_error_destroy(error);
        return mqs_no_information;
    }
    return code_of(reading, error);
}

static void debug_print(const char *text)
{
    mpiq_debug("dll", "%s", text ? text : "");
}

static char *error_string(int code)
{
    return code == mqs_ok ? (char *)"ok" : (char *)"the debugger could not do it";
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

static void *allocate(size_t size)
{
    return mpiq_memory_checked(malloc(size ? size : 1));
}

const mqs_basic_callbacks mpiq_basic_callbacks = {
    .mqs_malloc_fp = allocate,
    .mqs_free_fp = free,
    .mqs_dprints_fp = debug_print,
    .mqs_errorstring_fp = error_string,
    .mqs_put_image_info_fp = put_image_info,
    .mqs_get_image_info_fp = get_image_info,
    .mqs_put_process_info_fp = put_process_info,
    .mqs_get_process_info_fp = get_process_info,
};

static void get_type_sizes(mqs_process *process, mqs_target_type_sizes *ret)
{
    const struct mpiq_target_sizes *sizes = &process->image->reading->sizes;
    *ret = (mqs_target_type_sizes){
        .short_size = sizes->short_size,
        .int_size = sizes->int_size,
        .long_size = sizes->long_size,
        .long_long_size = sizes->long_long_size,
        .pointer_size = sizes->pointer_size,
        .bool_size = sizes->bool_size,
        .size_t_size = sizes->size_t_size,
    };
}

static int find_symbol(mqs_image *image, char *name, mqs_taddr_t *ret)
{
    uint64_t address = 0;
    struct mpiq_error *error = mpiq_target_find_symbol(image->reading->target, name, &address);
    if (!error && ret)
        *ret = address;
    return code_of_search(image->reading, error);
}

static int find_function(mqs_image *image, char *name, mqs_lang_code language, mqs_taddr_t *ret)
{
    (void)language;
    return find_symbol(image, name, ret);
}

/* The interface's types carry no image: a type of ours does. */
struct mqs_type_ {
    struct mqs_type_ *next;
    struct mpiq_reading *reading;
    const struct mpiq_target_type *type;
};

/* They are needed as long as the DLL may keep them, that is for the image's life; one reading, one image. */
static struct mqs_type_ *types;

static mqs_type *find_type(mqs_image *image, char *name, mqs_lang_code language)
{
    (void)language;
    const struct mpiq_target_type *type = NULL;
    if (code_of_search(image->reading, mpiq_target_find_type(image->reading->target, name, &type)) != mqs_ok)
        return NULL;
    struct mqs_type_ *found = mpiq_memory_checked(malloc(sizeof *found));
    if (found) {
        *found = (struct mqs_type_){.next = types, .reading = image->reading, .type = type};
        types = found;
    }
    return found;
}

void mpiq_callbacks_forget_types(void)
{
    while (types) {
        struct mqs_type_ *type = types;
        types = type->next;
        free(type);
    }
}

static int field_offset(mqs_type *type, char *member)
{
    uint64_t offset = 0;
    struct mpiq_error *error = mpiq_target_field_offset(type->reading->target, type->type, member, &offset);
    return code_of_search(type->reading, error) == mqs_ok && offset <= INT_MAX ? (int)offset : -1;
}

static int size_of(mqs_type *type)
{
    uint64_t size = 0;
    struct mpiq_error *error = mpiq_target_type_size(type->reading->target, type->type, &size);
    return code_of_search(type->reading, error) == mqs_ok && size <= INT_MAX ? (int)size : 0;
}

const mqs_image_callbacks mpiq_image_callbacks = {
    .mqs_get_type_sizes_fp = get_type_sizes,
    .mqs_find_function_fp = find_function,
    .mqs_find_symbol_fp = find_symbol,
    .mqs_find_type_fp = find_type,
    .mqs_field_offset_fp = field_offset,
    .mqs_sizeof_fp = size_of,
};

static int get_global_rank(mqs_process *process)
{
    return process->image->reading->state->name.rank;
}

static mqs_image *get_image(mqs_process *process)
{
    return process->image;
}

static int fetch_data(mqs_process *process, mqs_taddr_t address, int size, void *buffer)
{
    struct mpiq_reading *reading = process->image->reading;
    if (size < 0 || size > FETCH_MAX) {
        return code_of(reading, mpiq_error_create_address(MPIQ_ERROR_CORRUPT, address,
                                                          "%d bytes at 0x%lx were asked for", size, address));
    }
    return code_of(reading, mpiq_target_read(reading->target, address, (size_t)size, buffer));
}

/* One item of that many bytes, from the target's byte order to ours. */
static void target_to_host(mqs_process *process, const void *from, void *to, int size)
{
    if (size <= 0 || size > FETCH_MAX)
        return;
    bool ours_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (process->image->reading->sizes.big_endian == ours_is_big) {
        memmove(to, from, (size_t)size);
        return;
    }
    const unsigned char *in = from;
    unsigned char *out = to;
    for (int low = 0, high = size - 1; low <= high; low++, high--) {
        unsigned char byte = in[low]; /* from and to may be the same */
        out[low] = in[high];
        out[high] = byte;
    }
}

const mqs_process_callbacks mpiq_process_callbacks = {
    .mqs_get_global_rank_fp = get_global_rank,
    .mqs_get_image_fp = get_image,
    .mqs_fetch_data_fp = fetch_data,
    .mqs_target_to_host_fp = target_to_host,
};
