/* SPDX-License-Identifier: BSD-3-Clause */
/* The one unit that completes what subject.h only declares. */
struct subject_opaque {
    char filler[24];
    int treasure;
};

struct subject_opaque subject_opaque;
