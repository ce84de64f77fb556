/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suite - what the main of a program of CUnit tests ends with.
 *
 * In tests/X/meson.build, `dependencies: dependency_suite` brings CUnit and this header.
 */
#ifndef MPIQ_TESTS_SUITE_H
#define MPIQ_TESTS_SUITE_H

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>

/* Runs the tests, whose list ends with CU_TEST_INFO_NULL, as the program's one suite.  Returns what main
   does: 0 if all passed; 1 if one failed, if there is none, or if they cannot be run, which standard error
   says. */
static inline int suite_run(const char *name, CU_TestInfo *tests)
{
    CU_SuiteInfo suites[] = {{name, NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS ||
        CU_basic_run_tests() != CUE_SUCCESS) {
        fprintf(stderr, "%s: the tests cannot be run: %s\n", name, CU_get_error_msg());
        return 1;
    }
    bool good = CU_get_number_of_tests_run() > 0 && CU_get_number_of_failures() == 0;
    CU_cleanup_registry();
    return good ? 0 : 1;
}

#endif
