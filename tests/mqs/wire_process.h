/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire_process - a debugger in little: the callbacks that a message-queue DLL needs, answered over the wire
 * (docs/WIRE.md) by a server that is started for it.  Knows nothing of MPI, and of mpiq only the protocol.
 */
#ifndef WIRE_PROCESS_H
#define WIRE_PROCESS_H

#include "mpi_interface.h"

/* What the DLL asked for. */
struct wire_counts {
    unsigned long fetches;
    unsigned long bytes;
    unsigned long symbols;
    unsigned long types;
};

/* Starts the server, whose standard input and output become the wire; exits with a sentence on failure. */
mqs_process *wire_process_start(char **command);
/* Writes down what is asked and answered from now on, as C strings of the wire's lines
   (made_up_from_transcript). Reads of whole pages are refused meanwhile, so that the transcript holds what
   was needed and little else. */
void wire_process_record(mqs_process *process, const char *path);
/* From now on no type is known, as in a library without debug information. */
void wire_process_strip(mqs_process *process);
mqs_image *wire_process_image(mqs_process *process);
struct wire_counts *wire_process_counts(mqs_process *process);
void wire_process_forget(mqs_process *process);
void wire_process_end(mqs_process *process);

extern const mqs_basic_callbacks wire_basic_callbacks;
extern const mqs_image_callbacks wire_image_callbacks;
extern const mqs_process_callbacks wire_process_callbacks;

#endif
