/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran_check.c - what a Fortran program's calls must have left behind; ends MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "records.h"

int fortran_check(int rounds);
int fortran_active(void);

int fortran_active(void)
{
    return (int)ompi_mqs_active(counts_of(record_of(MPI_COMM_WORLD), OMPI_MQS_iallreduce));
}

/* The object that an address lies in. */
static const void *object_of(uintptr_t address)
{
    Dl_info info;

    return dladdr((const void *)address, &info) ? info.dli_fbase : NULL;
}

/* The first round was called through mpif.h's bindings: its call sites are in the program, which this file is
   a part of. */
static void check_call_sites(const struct ompi_mqs_collectives *record)
{
    const struct ompi_mqs_call *ring = (const void *)(uintptr_t)record->ring;
    Dl_info info;
    int i;

    for (i = 0; i < 3; i++) {
        CHECK(dladdr((const void *)(uintptr_t)ring[i].caller, &info) &&
                  info.dli_fbase == object_of((uintptr_t)fortran_check),
              "%s was called from %s", class_names[ring[i].collective], info.dli_fname);
    }
}

/* Each round was a barrier, a broadcast and a non-blocking reduction to all. */
int fortran_check(int rounds)
{
    const struct ompi_mqs_collectives *record = record_of(MPI_COMM_WORLD);
    static const int classes[] = {OMPI_MQS_barrier, OMPI_MQS_bcast, OMPI_MQS_iallreduce};
    uint32_t due = (uint32_t)rounds;
    int i;

    for (i = 0; i < 3; i++) {
        CHECK(due == counts_of(record, classes[i]).calls, "%s: %u", class_names[classes[i]],
              counts_of(record, classes[i]).calls);
        CHECK(0 == ompi_mqs_active(counts_of(record, classes[i])), "%s is active", class_names[classes[i]]);
    }
    CHECK(3 * due == calls_so_far(record), "%lu", (unsigned long)calls_so_far(record));
    check_call_sites(record);
    CHECK(record->end_cycles >= ((const struct ompi_mqs_call *)(uintptr_t)record->ring)[1].begin_cycles,
          "MPI_Bcast ended before it began");
    CHECK(1 == newest(record).count, "count %ld", (long)newest(record).count);
    CHECK((uintptr_t)MPI_SUM == newest(record).op, "op");
    CHECK((uintptr_t)MPI_Type_f2c(MPI_Type_c2f(MPI_INTEGER)) == newest(record).datatype, "datatype");
    CHECK(1 == counts_of(process_record(), OMPI_MQS_init).calls, "MPI_Init");
    return finish("fortran");
}
