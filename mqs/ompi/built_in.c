/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "built_in.h"
#include "error.h"
#include "layout_needs.h"
#include "verify.h"

struct built_in_row {
    int16_t slot;
    int16_t offset;
    int16_t size;
};

/* Structures of a layout, by the order in which they stand in layout.h. */
#define MAX_STRUCTURES 64

struct built_in_layout {
    const char *release;
    const char *variant;
    int16_t versions[MAX_STRUCTURES]; /* of each structure: where its rows begin; -1: it has none */
};

#ifndef BUILT_IN_ROWS
#define BUILT_IN_ROWS "built_in_rows.inc"
#endif
#include BUILT_IN_ROWS

#define ROWS (sizeof rows / sizeof rows[0])
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

/* ompi_mpi_state: from the end of MPI_Init to the middle of MPI_Finalize. */
#define STATE_INIT_COMPLETED 2
#define STATE_FINALIZE_COMPLETED 5

static size_t forced = (size_t)-1;

void built_in_force(size_t index)
{
    forced = index;
}

size_t built_in_count(void)
{
    return LAYOUTS;
}

void built_in_describe(size_t index, const char **release, const char **variant)
{
    *release = layouts[index].release;
    *variant = layouts[index].variant;
}

/* "4.1.4" out of the library's version string, which says that alone or begins with it. */
static bool read_release(struct memory *memory, char release[32])
{
    mqs_taddr_t address;
    size_t length;

    release[0] = '\0';
    if (!symbol_find(&memory->symbols, SYMBOL_ompi_version_string, &address) ||
        fetch_string(&memory->fetch, address, release, 32) != mqs_ok) {
        return false;
    }
    length = strspn(release, "0123456789.abcrn");
    release[length] = '\0';
    return length > 0;
}

static bool is_size_row(const struct built_in_row *row)
{
    return layout_is_size((enum layout_slot)row->slot);
}

/* Puts a layout's rows in, all of them. */
static void load(struct layout *layout, const struct built_in_layout *from)
{
    layout_clear(layout);
    for (size_t i = 0; i < STRUCTURES; i++) {
        size_t row = (size_t)from->versions[i];

        if (from->versions[i] < 0) {
            continue;
        }
        do {
            layout_set(layout, (enum layout_slot)rows[row].slot, rows[row].offset, rows[row].size);
            row++;
        } while (row < ROWS && !is_size_row(&rows[row]));
    }
    layout_check(layout);
    layout->source = mqs_layout_built_in;
}

static void note(struct built_in *built_in, const char *structure, const char *check)
{
    if (built_in->failed < BUILT_IN_FAILURES) {
        mqs_layout_failure *failure = &built_in->failures[built_in->failed];

        snprintf(failure->structure, sizeof failure->structure, "%s", structure);
        snprintf(failure->check, sizeof failure->check, "%s", check);
    }
    built_in->failed++;
}

/* How many of the classes that the library exports have another size than in the layout. */
static size_t count_mismatches(struct memory *memory)
{
    size_t count = 0;

    for (size_t i = 0; i < verify_classes(); i++) {
        count += verify_class(memory, i, NULL, 0) == VERIFY_FAILED;
    }
    return count;
}

/* Loads the layout of the release whose variant has the fewest classes of another size. */
static const struct built_in_layout *choose(struct memory *memory, const char *release)
{
    const struct built_in_layout *best = NULL;
    size_t fewest = 0;

    for (size_t i = 0; i < LAYOUTS; i++) {
        size_t mismatches;

        if (forced == (size_t)-1 ? strcmp(layouts[i].release, release) != 0 : i != forced) {
            continue;
        }
        load(&memory->layout, &layouts[i]);
        mismatches = count_mismatches(memory);
        if (best == NULL || mismatches < fewest) {
            best = &layouts[i];
            fewest = mismatches;
        }
        if (mismatches == 0) {
            break;
        }
    }
    if (best != NULL) {
        load(&memory->layout, best);
    }
    return best;
}

static void check_classes(struct memory *memory, struct built_in *built_in, bool *complete)
{
    for (size_t i = 0; i < verify_classes(); i++) {
        char check[sizeof built_in->failures[0].check];
        enum verify_result result = verify_class(memory, i, check, sizeof check);

        if (result == VERIFY_PASSED) {
            continue;
        }
        if (result == VERIFY_FAILED) {
            note(built_in, verify_class_structure(i), check);
        } else if (verify_class_is_needed(i)) {
            *complete = false; /* its component is not loaded (yet) */
        }
        layout_drop(&memory->layout, verify_class_slot(i));
    }
    layout_drop_dependents(&memory->layout);
}

static void check_contents(struct memory *memory, struct built_in *built_in)
{
    for (size_t i = 0; i < verify_contents(); i++) {
        const char *check = verify_content(memory, i);

        if (check != NULL) {
            note(built_in, verify_content_structure(i), check);
            layout_drop(&memory->layout, verify_content_slot(i));
            layout_drop_dependents(&memory->layout);
        }
    }
}

static bool is_initialized(struct memory *memory)
{
    unsigned char bytes[4];
    mqs_taddr_t address;
    int64_t state;

    if (!symbol_find(&memory->symbols, SYMBOL_ompi_mpi_state, &address) ||
        fetch_bytes(&memory->fetch, address, sizeof bytes, bytes) != mqs_ok) {
        return false;
    }
    state = number_signed(&memory->fetch, bytes, 4);
    return state >= STATE_INIT_COMPLETED && state < STATE_FINALIZE_COMPLETED;
}

void built_in_complete(struct memory *memory, struct built_in *built_in)
{
    struct layout *layout = &memory->layout;
    const struct built_in_layout *chosen;
    bool complete = true;

    /* Debug information of the program alone has MPI_Status and the like: that is no layout. */
    if (built_in->settled ||
        (layout->source != mqs_layout_built_in && layout_has_group(layout, GROUP_COMMUNICATORS))) {
        return;
    }
    memset(built_in, 0, sizeof *built_in);
    layout_clear(layout);
    /* The rows are those of 64-bit machines whose longs have 64 bits. */
    if (layout->sizes.pointer_size != 8 || layout->sizes.long_size != 8 ||
        !read_release(memory, built_in->release)) {
        return;
    }
    if (!is_initialized(memory)) {
        built_in->waiting = true;
        return;
    }
    chosen = choose(memory, built_in->release);
    if (chosen == NULL) {
        return;
    }
    built_in->variant = chosen->variant;
    check_classes(memory, built_in, &complete);
    check_contents(memory, built_in);
    built_in->settled = complete && built_in->failed == 0;
}
