/* SPDX-License-Identifier: BSD-3-Clause */
/* What lib/hosts says of PMIx against the pmix.h that is installed.  All of it is checked when this is
 * compiled. */
#include <pmix_tool.h>
#include <stddef.h>
#include <string.h>

#include "hosts/pmix_abi.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member) \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member), #theirs "." #their_member)

SAME_SIZE(struct mpiq_pmix_proc, pmix_proc_t);
SAME_PLACE(struct mpiq_pmix_proc, rank, pmix_proc_t, rank);
SAME_SIZE(struct mpiq_pmix_proc_info, pmix_proc_info_t);
SAME_PLACE(struct mpiq_pmix_proc_info, hostname, pmix_proc_info_t, hostname);
SAME_PLACE(struct mpiq_pmix_proc_info, executable, pmix_proc_info_t, executable_name);
SAME_PLACE(struct mpiq_pmix_proc_info, pid, pmix_proc_info_t, pid);
SAME_SIZE(struct mpiq_pmix_array, pmix_data_array_t);
SAME_PLACE(struct mpiq_pmix_array, size, pmix_data_array_t, size);
SAME_PLACE(struct mpiq_pmix_array, array, pmix_data_array_t, array);
SAME_SIZE(struct mpiq_pmix_value, pmix_value_t);
SAME_PLACE(struct mpiq_pmix_value, data, pmix_value_t, data);
SAME_SIZE(struct mpiq_pmix_info, pmix_info_t);
SAME_PLACE(struct mpiq_pmix_info, flags, pmix_info_t, flags);
SAME_PLACE(struct mpiq_pmix_info, value, pmix_info_t, value);
SAME_SIZE(struct mpiq_pmix_query, pmix_query_t);
SAME_PLACE(struct mpiq_pmix_query, qualifiers, pmix_query_t, qualifiers);
SAME_PLACE(struct mpiq_pmix_query, qualifier_count, pmix_query_t, nqual);

_Static_assert((int)MPIQ_PMIX_TYPE_STRING == PMIX_STRING, "PMIX_STRING");
_Static_assert((int)MPIQ_PMIX_TYPE_PID == PMIX_PID, "PMIX_PID");
_Static_assert((int)MPIQ_PMIX_TYPE_PROC_INFO == PMIX_PROC_INFO, "PMIX_PROC_INFO");
_Static_assert((int)MPIQ_PMIX_TYPE_ARRAY == PMIX_DATA_ARRAY, "PMIX_DATA_ARRAY");

/* And these when it runs. */
int main(void)
{
    static const char *const pairs[][2] = {{MPIQ_PMIX_SERVER_PID, PMIX_SERVER_PIDINFO},
                                           {MPIQ_PMIX_NAMESPACE, PMIX_NSPACE},
                                           {MPIQ_PMIX_QUERY_NAMESPACES, PMIX_QUERY_NAMESPACES},
                                           {MPIQ_PMIX_QUERY_TABLE, PMIX_QUERY_PROC_TABLE}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(pairs[i][0], pairs[i][1]) != 0)
            return 1;
    }
    return 0;
}
