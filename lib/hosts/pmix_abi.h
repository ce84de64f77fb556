/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_abi - the parts of PMIx that mpiq uses: the types, numbers and attributes of the PMIx Standard,
 * version 4 and later, as libpmix.so.2 has them on 64-bit Linux.
 *
 * mpiq is built without PMIx and loads the library that a launcher has loaded. tests/hosts/test_pmix_abi.c
 * compares this with pmix.h where that is installed.
 */
#ifndef MPIQ_PMIX_ABI_H
#define MPIQ_PMIX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MPIQ_PMIX_NAMESPACE_SIZE = 256, MPIQ_PMIX_KEY_SIZE = 512 };

enum mpiq_pmix_type {
    MPIQ_PMIX_TYPE_STRING = 3,
    MPIQ_PMIX_TYPE_PID = 5,
    MPIQ_PMIX_TYPE_PROC_INFO = 38,
    MPIQ_PMIX_TYPE_ARRAY = 39
};

struct mpiq_pmix_proc {
    char nspace[MPIQ_PMIX_NAMESPACE_SIZE];
    uint32_t rank;
};

struct mpiq_pmix_proc_info {
    struct mpiq_pmix_proc proc;
    char *hostname;
    char *executable;
    pid_t pid;
    int exit_code;
    uint8_t state;
};

struct mpiq_pmix_array {
    uint16_t type;
    size_t size;
    void *array;
};

struct mpiq_pmix_value {
    uint16_t type;
    union {
        char *string;
        pid_t pid;
        struct mpiq_pmix_array *array;
        void *largest[3]; /* an environment variable: two strings and a separator */
    } data;
};

struct mpiq_pmix_info {
    char key[MPIQ_PMIX_KEY_SIZE];
    uint32_t flags;
    struct mpiq_pmix_value value;
};

struct mpiq_pmix_query {
    char **keys;
    struct mpiq_pmix_info *qualifiers;
    size_t qualifier_count;
};

/* Attributes. */
#define MPIQ_PMIX_SERVER_PID "pmix.srvr.pidinfo"
#define MPIQ_PMIX_NAMESPACE "pmix.nspace"
#define MPIQ_PMIX_QUERY_NAMESPACES "pmix.qry.ns"
#define MPIQ_PMIX_QUERY_TABLE "pmix.qry.ptable"

typedef int mpiq_pmix_tool_init(struct mpiq_pmix_proc *proc, struct mpiq_pmix_info *info, size_t count);
typedef int mpiq_pmix_tool_finalize(void);
typedef int mpiq_pmix_query_info(struct mpiq_pmix_query *queries, size_t count,
                                 struct mpiq_pmix_info **results, size_t *result_count);

#endif
