/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * force_layout - what the DLL for tests exports beside the entry points: it can be made to use any of the
 * built-in layouts.
 */
#include "force_layout.h"
#include "ompi/built_in.h"

__attribute__((visibility("default"))) const char *test_force_layout(size_t index)
{
    static char name[64];
    const char *release;
    const char *variant;

    if (index >= built_in_count()) {
        return NULL;
    }
    built_in_force(index);
    built_in_describe(index, &release, &variant);
    snprintf(name, sizeof name, "%s %s", release, variant);
    return name;
}
