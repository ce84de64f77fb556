/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "callbacks.h"
#include "error.h"
#include "record.h"
#include "root.h"

/* What every version 1 has: all up to the clock. */
#define ROOT_LEAST offsetof(struct ompi_mqs_root, first)

#define MAX_SYMBOLS 256

static int read_record(struct memory *memory, struct root *root, mqs_taddr_t address)
{
    unsigned char bytes[sizeof(struct ompi_mqs_root)];
    struct ompi_mqs_root *record = &root->record;
    int code = fetch_bytes(&memory->fetch, address, ROOT_LEAST, bytes);

    if (code != mqs_ok) {
        return code;
    }
    memset(record, 0, sizeof *record);
    memcpy(record->magic, bytes, sizeof record->magic);
    if (memcmp(record->magic, "\0\0\0\0\0\0\0\0", sizeof record->magic) == 0) {
        return mqs_ok; /* the library has not filled it in yet */
    }
    record->byte_order = (uint32_t)RECORD(&memory->fetch, bytes, ompi_mqs_root, byte_order);
    if (memcmp(record->magic, OMPI_MQS_MAGIC, sizeof record->magic) != 0 ||
        record->byte_order != OMPI_MQS_BYTE_ORDER) {
        return ERROR_ROOT_CORRUPT;
    }
    record->version_major = (uint16_t)RECORD(&memory->fetch, bytes, ompi_mqs_root, version_major);
    if (record->version_major != OMPI_MQS_VERSION_MAJOR) {
        return ERROR_ROOT_VERSION;
    }
    code = record_fetch(&memory->fetch, address, offsetof(struct ompi_mqs_root, size), ROOT_LEAST,
                        sizeof bytes, bytes);
    if (code != mqs_ok) {
        return code;
    }
#define ROOT_TAKE(member, type) record->member = (type)RECORD(&memory->fetch, bytes, ompi_mqs_root, member)
    ROOT_TAKE(version_minor, uint16_t);
    ROOT_TAKE(size, uint32_t);
    ROOT_TAKE(pointer_size, uint32_t);
    ROOT_TAKE(recording, uint32_t);
    ROOT_TAKE(phase, uint32_t);
    ROOT_TAKE(tables, uint64_t);
    ROOT_TAKE(threads, uint64_t);
    ROOT_TAKE(process, uint64_t);
    ROOT_TAKE(symbols, uint64_t);
    ROOT_TAKE(symbol_count, uint32_t);
    ROOT_TAKE(jobid, uint32_t);
    ROOT_TAKE(vpid, uint32_t);
    ROOT_TAKE(world_size, uint32_t);
    ROOT_TAKE(thread_level, uint32_t);
    ROOT_TAKE(pid, uint32_t);
    ROOT_TAKE(first.cycles, uint64_t);
    ROOT_TAKE(first.ns, uint64_t);
    ROOT_TAKE(last.cycles, uint64_t);
    ROOT_TAKE(last.ns, uint64_t);
    ROOT_TAKE(windows, uint64_t);
#undef ROOT_TAKE
#define ROOT_TEXT(member)                                                                            \
    text_copy(record->member, sizeof record->member, bytes + offsetof(struct ompi_mqs_root, member), \
              sizeof record->member)
    ROOT_TEXT(nspace);
    ROOT_TEXT(release);
    ROOT_TEXT(pml);
#undef ROOT_TEXT
    if ((int)record->pointer_size != memory->layout.sizes.pointer_size) {
        return ERROR_ROOT_CORRUPT;
    }
    root->present = true;
    return mqs_ok;
}

static int read_symbols(struct memory *memory, const struct root *root)
{
    uint32_t count = root->record.symbol_count;
    mqs_taddr_t address = (mqs_taddr_t)root->record.symbols;

    if (address == 0) {
        return mqs_ok;
    }
    if (count > MAX_SYMBOLS) {
        return ERROR_ROOT_CORRUPT;
    }
    for (uint32_t i = 0; i < count; i++) {
        unsigned char bytes[sizeof(struct ompi_mqs_symbol)];
        char name[OMPI_MQS_NAME];
        int code = fetch_bytes(&memory->fetch, address + i * sizeof bytes, sizeof bytes, bytes);

        if (code != mqs_ok) {
            return code;
        }
        text_copy(name, sizeof name, bytes + offsetof(struct ompi_mqs_symbol, name), OMPI_MQS_NAME);
        symbol_add(&memory->symbols, name,
                   (mqs_taddr_t)RECORD(&memory->fetch, bytes, ompi_mqs_symbol, address));
    }
    return mqs_ok;
}

/* The tables of the library itself lie together, those of what it loads each in an object of its own. */
static bool is_beside_root(struct memory *memory, mqs_taddr_t address)
{
    mqs_taddr_t root = 0;

    return symbol_find(&memory->symbols, SYMBOL_ompi_mqs_root, &root) && address < root + SAME_LIBRARY &&
           root < address + SAME_LIBRARY;
}

static int read_rows(struct memory *memory, mqs_taddr_t rows, uint64_t count, uint32_t row_size)
{
    unsigned char *bytes;
    int code;

    if (count > OMPI_MQS_MAX_ROWS || row_size < sizeof(struct ompi_mqs_row) || row_size > FETCH_PAGE) {
        return ERROR_ROOT_CORRUPT;
    }
    if (count == 0) {
        return mqs_ok;
    }
    bytes = heap_allocate((size_t)count, row_size);
    if (bytes == NULL) {
        return ERROR_NO_STORE;
    }
    code = (is_beside_root(memory, rows) ? fetch_bytes : fetch_exact)(&memory->fetch, rows,
                                                                      (size_t)count * row_size, bytes);
    for (uint64_t i = 0; code == mqs_ok && i < count; i++) {
        const unsigned char *row = bytes + i * row_size;
        char structure[OMPI_MQS_NAME];
        char member[OMPI_MQS_NAME];

        text_copy(structure, sizeof structure, row + offsetof(struct ompi_mqs_row, structure), OMPI_MQS_NAME);
        text_copy(member, sizeof member, row + offsetof(struct ompi_mqs_row, member), OMPI_MQS_NAME);
        layout_add_row(&memory->layout, structure, member,
                       (uint32_t)RECORD(&memory->fetch, row, ompi_mqs_row, offset),
                       (uint32_t)RECORD(&memory->fetch, row, ompi_mqs_row, size));
    }
    heap_free(bytes);
    return code;
}

/* The library puts a new table in front of the others. */
static int read_tables(struct memory *memory, struct root *root)
{
    mqs_taddr_t newest = (mqs_taddr_t)root->record.tables;
    unsigned char tables[OMPI_MQS_MAX_TABLES][sizeof(struct ompi_mqs_table)];
    size_t count = 0;

    if (newest == root->newest_table) {
        return mqs_ok;
    }
    for (mqs_taddr_t at = newest; at != 0; count++) {
        int code;

        if (count == OMPI_MQS_MAX_TABLES) {
            return ERROR_ROOT_CORRUPT;
        }
        code = fetch_exact(&memory->fetch, at, sizeof tables[count], tables[count]);
        if (code != mqs_ok) {
            return code;
        }
        if (RECORD(&memory->fetch, tables[count], ompi_mqs_table, size) < sizeof tables[count]) {
            return ERROR_ROOT_CORRUPT;
        }
        at = (mqs_taddr_t)RECORD(&memory->fetch, tables[count], ompi_mqs_table, next);
    }
    for (size_t i = 0; i < count; i++) {
        int code = read_rows(memory, (mqs_taddr_t)RECORD(&memory->fetch, tables[i], ompi_mqs_table, rows),
                             RECORD(&memory->fetch, tables[i], ompi_mqs_table, row_count),
                             (uint32_t)RECORD(&memory->fetch, tables[i], ompi_mqs_table, row_size));

        if (code != mqs_ok) {
            return code;
        }
    }
    layout_check(&memory->layout);
    root->newest_table = newest;
    return mqs_ok;
}

int root_read(struct memory *memory, struct root *root)
{
    mqs_taddr_t address;
    int code;

    root->present = false;
    if (!symbol_find(&memory->symbols, SYMBOL_ompi_mqs_root, &address)) {
        return mqs_ok;
    }
    code = read_record(memory, root, address);
    if (code != mqs_ok || !root->present) {
        return code;
    }
    code = read_symbols(memory, root);
    return code == mqs_ok ? read_tables(memory, root) : code;
}

int64_t root_time(const struct root *root, uint64_t cycles)
{
    const struct ompi_mqs_moment *first = &root->record.first;
    const struct ompi_mqs_moment *last = &root->record.last;
    double rate;
    double since;

    if (cycles == 0 || first->cycles == 0 || last->cycles <= first->cycles || last->ns <= first->ns) {
        return 0;
    }
    rate = (double)(last->ns - first->ns) / (double)(last->cycles - first->cycles);
    since = cycles >= first->cycles ? (double)(cycles - first->cycles) : -(double)(first->cycles - cycles);
    since *= rate;
    if (since > 4e18 || since < -4e18 || first->ns > INT64_MAX / 2) {
        return 0;
    }
    return (int64_t)first->ns + (int64_t)since;
}
