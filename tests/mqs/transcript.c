/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "transcript.h"

static const char everything_41_unpatched[] =
#include "recorded/everything_41_unpatched.inc"
    ;

static const char everything_50_unpatched[] =
#include "recorded/everything_50_unpatched.inc"
    ;

/* Debian 12's own library, without types: read with a built-in layout. */
static const char everything_41_stripped[] =
#include "recorded/everything_41_stripped.inc"
    ;

const struct transcript transcripts[] = {
    {"4.1 unpatched", everything_41_unpatched},
    {"5.0 unpatched", everything_50_unpatched},
    {"4.1 stripped", everything_41_stripped},
    {NULL, NULL},
};
