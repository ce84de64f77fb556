/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FORCE_LAYOUT_H
#define FORCE_LAYOUT_H

#include <stddef.h>
#include <stdio.h>

/* Has the DLL use a built-in layout, whatever the library says about itself: "4.1.4 CUDA"; NULL past the
   last. */
const char *test_force_layout(size_t index);

#endif
