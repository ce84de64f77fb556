/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug - diagnostics that are always compiled and switched on by MPIQ_DEBUG=area,area (or "all").
 *
 * They go to stderr, one line each, "mpiq: area: …"; the only thing that libmpiq ever prints.
 */
#ifndef MPIQ_DEBUG_H
#define MPIQ_DEBUG_H

#include <stdbool.h>

/* Whether MPIQ_DEBUG names that area. */
bool mpiq_debug_on(const char *area);

void mpiq_debug(const char *area, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
