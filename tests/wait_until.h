/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until - waiting for a condition in tests written in C.
 *
 * tests/support/conditions.py is for those in Python.
 */
#ifndef MPIQ_TESTS_WAIT_UNTIL_H
#define MPIQ_TESTS_WAIT_UNTIL_H

#include <unistd.h>

/* Evaluates the condition each millisecond until it is true, for at least five minutes: that matters only
   where the test fails, and a machine may be busy. */
#define WAIT_UNTIL(condition)                                                 \
    do {                                                                      \
        for (int left_ms_ = 300000; left_ms_ > 0 && !(condition); left_ms_--) \
            usleep(1000);                                                     \
    } while (0)

#endif
