/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up.h"

#define BASE 0x100000
#define MAX_TYPES 256
#define MAX_MEMBERS 1024
#define MAX_SYMBOLS 256
#define NAME 64

struct segment {
    mqs_taddr_t address;
    size_t size;
    size_t capacity;
    unsigned char *bytes;
};

struct mqs_type_ {
    struct made_up *owner;
    char name[NAME];
    int size;
    int alignment;
    int id; /* of a record */
};

struct member {
    int type;
    char name[NAME];
    int offset;
    int width;
};

struct symbol {
    char name[NAME];
    mqs_taddr_t address;
};

struct mqs_image_ {
    struct made_up *owner;
    mqs_image_info *info;
};

struct mqs_process_ {
    struct made_up *owner;
    mqs_process_info *info;
};

struct made_up {
    struct mqs_image_ image;
    struct mqs_process_ process;
    int pointer_size;
    bool big_endian;
    bool stripped;
    size_t gap;
    struct segment *segments;
    size_t segment_count;
    struct mqs_type_ types[MAX_TYPES];
    int type_count;
    struct member members[MAX_MEMBERS];
    int member_count;
    struct symbol symbols[MAX_SYMBOLS];
    int symbol_count;
};

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "made_up: out of memory\n");
        abort();
    }
    return memory;
}

struct made_up *made_up_create(int pointer_size, bool big_endian)
{
    struct made_up *made_up = need(calloc(1, sizeof *made_up));

    made_up->image.owner = made_up;
    made_up->process.owner = made_up;
    made_up->pointer_size = pointer_size;
    made_up->big_endian = big_endian;
    return made_up;
}

void made_up_destroy(struct made_up *made_up)
{
    if (made_up == NULL) {
        return;
    }
    for (size_t i = 0; i < made_up->segment_count; i++) {
        free(made_up->segments[i].bytes);
    }
    free(made_up->segments);
    free(made_up);
}

void made_up_set_gap(struct made_up *made_up, size_t gap)
{
    made_up->gap = gap;
}

static struct segment *add_segment(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    struct segment *segment;

    made_up->segments = need(realloc(made_up->segments, (made_up->segment_count + 1) * sizeof *segment));
    segment = &made_up->segments[made_up->segment_count++];
    segment->address = address;
    segment->size = size;
    segment->capacity = size;
    segment->bytes = need(calloc(1, size == 0 ? 1 : size));
    return segment;
}

mqs_taddr_t made_up_allocate(struct made_up *made_up, size_t size)
{
    struct segment *last =
        made_up->segment_count == 0 ? NULL : &made_up->segments[made_up->segment_count - 1];
    mqs_taddr_t address;

    size = (size + 15) & ~(size_t)15;
    if (last == NULL) {
        last = add_segment(made_up, BASE, 0);
    }
    if (made_up->gap > 0) {
        last = add_segment(made_up, last->address + last->size + made_up->gap, size);
        return last->address;
    }
    if (last->size + size > last->capacity) {
        size_t capacity = (last->size + size) * 2;

        last->bytes = need(realloc(last->bytes, capacity));
        memset(last->bytes + last->size, 0, capacity - last->size);
        last->capacity = capacity;
    }
    address = last->address + last->size;
    last->size += size;
    return address;
}

/* The bytes at an address, or NULL if not all are there. */
static unsigned char *find_bytes(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    size_t low = 0;
    size_t high = made_up->segment_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct segment *segment = &made_up->segments[middle];

        if (address < segment->address) {
            high = middle;
        } else if (address - segment->address >= segment->size) {
            low = middle + 1;
        } else {
            size_t offset = address - segment->address;

            return size <= segment->size - offset ? segment->bytes + offset : NULL;
        }
    }
    return NULL;
}

void made_up_put_bytes(struct made_up *made_up, mqs_taddr_t address, const void *bytes, size_t size)
{
    memcpy(need(find_bytes(made_up, address, size)), bytes, size);
}

void made_up_put(struct made_up *made_up, mqs_taddr_t address, int width, uint64_t value)
{
    unsigned char *bytes = need(find_bytes(made_up, address, (size_t)width));

    for (int i = 0; i < width; i++) {
        bytes[made_up->big_endian ? width - 1 - i : i] = (unsigned char)(value >> 8 * i);
    }
}

uint64_t made_up_get(struct made_up *made_up, mqs_taddr_t address, int width)
{
    const unsigned char *bytes = need(find_bytes(made_up, address, (size_t)width));
    uint64_t value = 0;

    for (int i = 0; i < width; i++) {
        value |= (uint64_t)bytes[made_up->big_endian ? width - 1 - i : i] << 8 * i;
    }
    return value;
}

void made_up_put_text(struct made_up *made_up, mqs_taddr_t address, const char *text)
{
    made_up_put_bytes(made_up, address, text, strlen(text) + 1);
}

void made_up_symbol(struct made_up *made_up, const char *name, mqs_taddr_t address)
{
    struct symbol *symbol = NULL;

    for (int i = 0; i < made_up->symbol_count; i++) {
        if (strcmp(made_up->symbols[i].name, name) == 0) {
            symbol = &made_up->symbols[i];
        }
    }
    if (symbol == NULL) {
        symbol = &made_up->symbols[made_up->symbol_count++];
    }
    snprintf(symbol->name, sizeof symbol->name, "%s", name);
    symbol->address = address;
}

mqs_taddr_t made_up_find_symbol(const struct made_up *made_up, const char *name)
{
    for (int i = 0; i < made_up->symbol_count; i++) {
        if (strcmp(made_up->symbols[i].name, name) == 0) {
            return made_up->symbols[i].address;
        }
    }
    return 0;
}

const unsigned char *made_up_find(struct made_up *made_up, mqs_taddr_t address, size_t size)
{
    return find_bytes(made_up, address, size);
}

static int type_index(struct made_up *made_up, const char *name)
{
    for (int i = 0; i < made_up->type_count; i++) {
        if (strcmp(made_up->types[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void made_up_structure(struct made_up *made_up, const char *name)
{
    struct mqs_type_ *type = &made_up->types[made_up->type_count++];

    type->owner = made_up;
    snprintf(type->name, sizeof type->name, "%s", name);
    type->size = 0;
    type->alignment = 1;
}

void made_up_member(struct made_up *made_up, const char *name, const char *what)
{
    struct mqs_type_ *type = &made_up->types[made_up->type_count - 1];
    struct member *member = &made_up->members[made_up->member_count++];
    int size;
    int alignment;

    switch (what[0]) {
    case 'p':
    case 'z':
        size = alignment = made_up->pointer_size;
        break;
    case 'i':
        size = alignment = 4;
        break;
    case 'h':
        size = alignment = 2;
        break;
    case 'b':
        size = alignment = 1;
        break;
    case 'l':
        size = alignment = 8;
        break;
    default:
        if (what[0] >= '0' && what[0] <= '9') {
            size = atoi(what);
            alignment = 1;
        } else {
            const struct mqs_type_ *inner = &made_up->types[type_index(made_up, what + 1)];

            size = inner->size;
            alignment = inner->alignment;
        }
    }
    member->type = made_up->type_count - 1;
    snprintf(member->name, sizeof member->name, "%s", name);
    /* Sizes were rounded up when the last member came: members of a structure are added in a row. */
    member->offset = (type->id + alignment - 1) / alignment * alignment;
    member->width = size;
    type->id = member->offset + size;
    type->alignment = alignment > type->alignment ? alignment : type->alignment;
    type->size = (type->id + type->alignment - 1) / type->alignment * type->alignment;
}

void made_up_remove_type(struct made_up *made_up, const char *name)
{
    int index = type_index(made_up, name);

    if (index >= 0) {
        made_up->types[index].name[0] = '\0';
    }
}

int made_up_size(struct made_up *made_up, const char *structure)
{
    int index = type_index(made_up, structure);

    return index < 0 ? -1 : made_up->types[index].size;
}

static const struct member *find_member(struct made_up *made_up, int type, const char *name)
{
    for (int i = 0; i < made_up->member_count; i++) {
        if (made_up->members[i].type == type && strcmp(made_up->members[i].name, name) == 0) {
            return &made_up->members[i];
        }
    }
    return NULL;
}

int made_up_offset(struct made_up *made_up, const char *structure, const char *member)
{
    const struct member *found = find_member(made_up, type_index(made_up, structure), member);

    return found == NULL ? -1 : found->offset;
}

void made_up_set(struct made_up *made_up, mqs_taddr_t address, const char *structure, const char *member,
                 uint64_t value)
{
    const struct member *found = find_member(made_up, type_index(made_up, structure), member);

    if (found == NULL) {
        fprintf(stderr, "made_up: no %s in %s\n", member, structure);
        abort();
    }
    made_up_put(made_up, address + (mqs_taddr_t)found->offset, found->width, value);
}

mqs_taddr_t made_up_new(struct made_up *made_up, const char *structure)
{
    return made_up_allocate(made_up, (size_t)made_up_size(made_up, structure));
}

size_t made_up_bytes(const struct made_up *made_up)
{
    size_t sum = 0;

    for (size_t i = 0; i < made_up->segment_count; i++) {
        sum += made_up->segments[i].size;
    }
    return sum;
}

static const struct segment *segment_of(const struct made_up *made_up, size_t *index)
{
    size_t i = 0;

    while (*index >= made_up->segments[i].size) {
        *index -= made_up->segments[i++].size;
    }
    return &made_up->segments[i];
}

unsigned char *made_up_byte(struct made_up *made_up, size_t index)
{
    const struct segment *segment = segment_of(made_up, &index);

    return segment->bytes + index;
}

mqs_taddr_t made_up_address(const struct made_up *made_up, size_t index)
{
    const struct segment *segment = segment_of(made_up, &index);

    return segment->address + index;
}

void made_up_strip(struct made_up *made_up)
{
    made_up->stripped = true;
}

mqs_process *made_up_process(struct made_up *made_up)
{
    return &made_up->process;
}

mqs_image *made_up_image(struct made_up *made_up)
{
    return &made_up->image;
}

/* ---- records ---- */

static int compare_segments(const void *a, const void *b)
{
    const struct segment *left = a;
    const struct segment *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

/* Ranges that overlap or touch become one: a record holds what was read, in the order it was. */
static void join_segments(struct made_up *made_up)
{
    struct segment *segments = made_up->segments;
    size_t kept = 0;

    qsort(segments, made_up->segment_count, sizeof *segments, compare_segments);
    for (size_t i = 1; i < made_up->segment_count; i++) {
        struct segment *into = &segments[kept];

        if (segments[i].address <= into->address + into->size) {
            size_t offset = segments[i].address - into->address;
            size_t end = offset + segments[i].size;

            if (end > into->size) {
                into->bytes = need(realloc(into->bytes, end));
                memcpy(into->bytes + offset, segments[i].bytes, segments[i].size);
                into->size = into->capacity = end;
            }
            free(segments[i].bytes);
        } else {
            segments[++kept] = segments[i];
        }
    }
    made_up->segment_count = made_up->segment_count == 0 ? 0 : kept + 1;
}

static void record_read(struct made_up *made_up, mqs_taddr_t address, size_t size, const char *digits)
{
    struct segment *segment;

    if (strlen(digits) < 2 * size) {
        return;
    }
    segment = add_segment(made_up, address, size);
    for (size_t i = 0; i < size; i++) {
        char pair[3] = {digits[2 * i], digits[2 * i + 1], '\0'};

        segment->bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
}

static void record_field(struct made_up *made_up, int id, const char *name, int offset)
{
    struct member *member = &made_up->members[made_up->member_count];

    for (int i = 0; i < made_up->type_count && made_up->member_count < MAX_MEMBERS; i++) {
        if (made_up->types[i].id == id) {
            member->type = i;
            member->offset = offset;
            snprintf(member->name, sizeof member->name, "%s", name);
            made_up->member_count++;
            return;
        }
    }
}

static void record_line(struct made_up *made_up, const char *request, const char *reply)
{
    char name[NAME];
    unsigned long address;
    size_t size;
    int id;

    if (sscanf(request, "read %lx %zu", &address, &size) == 2) {
        record_read(made_up, address, size, reply);
    } else if (sscanf(request, "symbol %63s", name) == 1 && made_up->symbol_count < MAX_SYMBOLS) {
        made_up_symbol(made_up, name, strtoul(reply, NULL, 0));
    } else if (strncmp(request, "type ", 5) == 0 && made_up->type_count < MAX_TYPES) {
        made_up_structure(made_up, request + 5);
        sscanf(reply, "%d %d", &made_up->types[made_up->type_count - 1].id,
               &made_up->types[made_up->type_count - 1].size);
    } else if (sscanf(request, "field %d %63s", &id, name) == 2) {
        record_field(made_up, id, name, atoi(reply));
    } else if (strcmp(request, "sizes") == 0) {
        sscanf(reply, "%*d %*d %*d %*d %d", &made_up->pointer_size);
        made_up->big_endian = strstr(reply, "big") != NULL;
    }
}

struct made_up *made_up_from_record(const char *text)
{
    struct made_up *made_up = made_up_create(8, false);
    char *copy = need(strdup(text));
    char *rest = copy;
    char *request;
    char *reply;

    while ((request = strsep(&rest, "\n")) != NULL && (reply = strsep(&rest, "\n")) != NULL) {
        if (strncmp(reply, "ok ", 3) == 0) {
            record_line(made_up, request, reply + 3);
        }
    }
    free(copy);
    join_segments(made_up);
    return made_up;
}

/* ---- callbacks ---- */

static struct made_up_counts counts;

struct made_up_counts *made_up_counts(void)
{
    return &counts;
}

static unsigned long fail_after;

void made_up_fail_after(unsigned long n)
{
    fail_after = n;
}

/* Each block remembers its size in front. */
static void *count_malloc(size_t size)
{
    size_t *block = fail_after == 1 ? NULL : malloc(size + 2 * sizeof *block);

    if (fail_after > 1) {
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

static int fetch_data(mqs_process *process, mqs_taddr_t address, int size, void *buffer)
{
    const unsigned char *bytes;

    counts.fetches++;
    if (size < 0) {
        return 100;
    }
    counts.bytes += (unsigned long)size;
    bytes = find_bytes(process->owner, address, (size_t)size);
    if (bytes == NULL) {
        return 100;
    }
    memcpy(buffer, bytes, (size_t)size);
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
    int index = image->owner->stripped ? -1 : type_index(image->owner, name);

    (void)language;
    return index < 0 ? NULL : &image->owner->types[index];
}

static int field_offset(mqs_type *type, char *member)
{
    const struct member *found = find_member(type->owner, (int)(type - type->owner->types), member);

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
