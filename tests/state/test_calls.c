/* SPDX-License-Identifier: BSD-3-Clause */
/* What calls do with messages, held against the parameters that MPI's bindings give them. */
#include "state/calls.h"

#include <stdio.h>
#include <string.h>

#include "names/parameters.h"
#include "suite.h"

static const char *functions; /* path of the list of all MPI functions */

/* Whether it fetches a message that MPI_Mprobe has matched: it has no source. */
static bool fetches(const char *call)
{
    static const char *const names[] = {"MPI_Mrecv", "MPI_Mrecv_c", "MPI_Imrecv", "MPI_Imrecv_c"};
    bool one = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        one = one || strcmp(call, names[i]) == 0;
    return one;
}

static void messages_go_where_the_parameters_say(void)
{
    char line[128], call[160];
    int senders = 0, receivers = 0, both = 0;
    FILE *file = fopen(functions, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(call, sizeof call, "MPI_%s", line);
        const char *parameters = mpiq_names_parameters(call);
        const unsigned does = mpiq_call_messages(call);
        const bool sends = parameters && strchr(parameters, 'd');
        const bool receives = (parameters && strchr(parameters, 's')) || fetches(call);
        const bool same = sends == !!(does & MPIQ_CALL_SENDS) &&
                          receives == !!(does & (MPIQ_CALL_RECEIVES | MPIQ_CALL_PROBES));
        if (!same)
            printf("%s: %s, %u\n", call, parameters ? parameters : "not known", does);
        CU_ASSERT(same);
        CU_ASSERT_EQUAL(!!(does & MPIQ_CALL_PREPARES), (sends || receives) && strstr(call, "_init"));
        CU_ASSERT_EQUAL(!!(does & MPIQ_CALL_PROBES), receives && strstr(call, "robe"));
        senders += sends;
        receivers += receives;
        both += sends && receives;
    }
    fclose(file);
    CU_ASSERT(senders >= 24 && receivers >= 15 && both >= 4);
}

static void what_is_no_call_of_messages_does_nothing(void)
{
    static const char *const names[] = {NULL,        "",       "MPI_",      "MPI_I",       "MPI_Sen",
                                        "MPI_Sends", "Send",   "MPI_send_", "MPI_Init",    "MPI_Send_c_c",
                                        "MPI_Bcast", "MPI__c", "MPI__init", "MPI_I_init_c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_EQUAL(mpiq_call_messages(names[i]), 0);
}

static void objects_are_made(void)
{
    CU_ASSERT(mpiq_call_makes_window("MPI_Win_allocate_shared"));
    CU_ASSERT(!mpiq_call_makes_window("MPI_Win_free"));
    CU_ASSERT(!mpiq_call_makes_window(NULL));
    CU_ASSERT(mpiq_call_opens_file("MPI_File_open"));
    CU_ASSERT(!mpiq_call_opens_file("MPI_File_close"));
    CU_ASSERT(!mpiq_call_opens_file(NULL));
}

int main(int argc, char **argv)
{
    functions = argc > 1 ? argv[1] : "";
    CU_TestInfo tests[] = {
        {"calls send and receive where they have a peer", messages_go_where_the_parameters_say},
        {"other names do nothing", what_is_no_call_of_messages_does_nothing},
        {"windows and files", objects_are_made},
        CU_TEST_INFO_NULL,
    };
    return suite_run("calls", tests);
}
