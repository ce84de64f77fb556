/* SPDX-License-Identifier: BSD-3-Clause */
/* errors - what the numbers mean by which a process ended: classes of MPI's errors, and signals. */
#ifndef MPIQ_NAMES_ERRORS_H
#define MPIQ_NAMES_ERRORS_H

/* The class of an error code of that library ("Open MPI 4.1.4"), of which an exit status has the lower eight
   bits: "MPI_ERR_TRUNCATE"; NULL: not known. */
const char *mpiq_error_class(const char *library, int code);
/* "SIGSEGV"; NULL: not known. */
const char *mpiq_signal_name(int number);

#endif
