/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran_check.c - what fortran.f90's calls must have left behind; ends MPI. */
#include "records.h"

int fortran_check(void);

int fortran_check(void)
{
    const struct ompi_mqs_collectives *record = record_of(MPI_COMM_WORLD);

    CHECK(2 == record->counts[OMPI_MQS_barrier].calls, "%u", record->counts[OMPI_MQS_barrier].calls);
    CHECK(2 == record->counts[OMPI_MQS_bcast].calls, "%u", record->counts[OMPI_MQS_bcast].calls);
    CHECK(2 == record->counts[OMPI_MQS_iallreduce].calls, "%u", record->counts[OMPI_MQS_iallreduce].calls);
    CHECK(0 == record->counts[OMPI_MQS_iallreduce].active, "active");
    CHECK(6 == calls_so_far(record), "%lu", (unsigned long)calls_so_far(record));
    CHECK(1 == process_record()->counts[OMPI_MQS_init].calls, "MPI_Init");
    return finish("fortran");
}
