/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serve_made_up RANKS - serves a made-up process of Open MPI 4.1 with a world of so many ranks over the wire
 * on standard input and output, to any DLL: what it asks for beyond what is there gets a harmless answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_up_mpi.h"

#define MAX_NAMES 512

static char *type_names[MAX_NAMES];
static int type_count;

static int type_id(const char *name)
{
    for (int i = 0; i < type_count; i++) {
        if (strcmp(type_names[i], name) == 0) {
            return i;
        }
    }
    if (type_count == MAX_NAMES) {
        exit(1);
    }
    type_names[type_count] = strdup(name);
    return type_count++;
}

static void answer(struct made_up *memory, char *line)
{
    char member[128];
    mqs_taddr_t address;
    size_t size;
    int id;

    if (strncmp(line, "symbol ", 7) == 0) {
        address = made_up_find_symbol(memory, line + 7);
        if (address == 0) {
            printf("err not-found no such symbol\n");
        } else {
            printf("ok 0x%lx\n", address);
        }
    } else if (strncmp(line, "type ", 5) == 0) {
        int known = made_up_size(memory, line + 5);

        printf("ok %d %d\n", type_id(line + 5), known < 0 ? 64 : known);
    } else if (sscanf(line, "field %d %127s", &id, member) == 2 && id >= 0 && id < type_count) {
        int offset = made_up_offset(memory, type_names[id], member);

        if (offset < 0 && made_up_size(memory, type_names[id]) >= 0) {
            /* A structure of ours without that member: lines differ, and so must the answer. */
            printf("err not-found no such member\n");
        } else {
            printf("ok %d\n", offset < 0 ? 0 : offset);
        }
    } else if (sscanf(line, "read %lx %zu", &address, &size) == 2) {
        const unsigned char *bytes = made_up_find(memory, address, size);

        if (bytes == NULL) {
            printf("err unmapped there is nothing\n");
            return;
        }
        printf("ok ");
        for (size_t i = 0; i < size; i++) {
            printf("%02x", bytes[i]);
        }
        printf("\n");
    } else {
        printf("err unsupported it is only made up\n");
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {2, 4, 8, 8, 8, 1, 8};
    struct made_up_mpi *mpi;
    char *line = NULL;
    size_t room = 0;
    mqs_taddr_t table;
    ssize_t length;

    if (argc != 2) {
        fprintf(stderr, "usage: serve_made_up RANKS\n");
        return 2;
    }
    mpi = made_up_mpi_create(8, false, false, atoi(argv[1]), 0, 64);
    made_up_set(mpi->memory, mpi->table, "opal_pointer_array_t", "lowest_free", 3);
    made_up_set(mpi->memory, mpi->table, "opal_pointer_array_t", "number_free", 64 - 3);
    table = made_up_allocate(mpi->memory, sizeof sizes);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        made_up_put(mpi->memory, table + 4 * i, 4, (uint64_t)sizes[i]);
    }
    made_up_symbol(mpi->memory, "MPIR_debug_typedefs_sizeof", table);
    while ((length = getline(&line, &room, stdin)) > 0) {
        line[length - 1] = '\0';
        if (strcmp(line, "hello 1") == 0) {
            printf("ok 1 0\n");
        } else if (strcmp(line, "sizes") == 0) {
            printf("ok 2 4 8 8 8 1 8 little\n");
        } else if (strcmp(line, "forget") == 0 || strcmp(line, "end") == 0) {
            printf("ok\n");
        } else {
            answer(mpi->memory, line);
        }
        fflush(stdout);
        if (strcmp(line, "end") == 0) {
            break;
        }
    }
    free(line);
    made_up_mpi_destroy(mpi);
    return 0;
}
