/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_function - which symbols are MPI functions, whatever the language of their binding. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "rank/rank.h"

/* What compilers and bindings append: Fortran's underscores, mpi_f08's and Open MPI's names for the
   implementation behind one. */
static const char *const endings[] = {"_f08ts", "_f08", "_f", "__", "_"};

static bool drop(char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t part = strlen(ending);
    if (length <= part || strcmp(name + length - part, ending) != 0)
        return false;
    name[length - part] = '\0';
    return true;
}

static bool is_word(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789")] == '\0' &&
           islower((unsigned char)*name);
}

/* "MPI_" and the rest: in C the first letter alone is large. */
static bool spell(const char *rest, char *ret, size_t size)
{
    char name[64];
    if (strlen(rest) >= sizeof name)
        return false;
    for (size_t i = 0; i <= strlen(rest); i++)
        name[i] = (char)tolower((unsigned char)rest[i]);
    if (!is_word(name))
        return false;
    name[0] = (char)toupper((unsigned char)name[0]);
    return (size_t)snprintf(ret, size, "MPI_%s", name) < size;
}

bool mpiq_mpi_function(const char *symbol, char *ret, size_t size)
{
    char name[80];
    size_t length = symbol ? strlen(symbol) : sizeof name;
    if (length >= sizeof name)
        return false;
    memcpy(name, symbol, length + 1);

    /* C: MPI_Recv, PMPI_Recv. */
    const char *c_name = name[0] == 'P' ? name + 1 : name;
    if (strncmp(c_name, "MPI_", 4) == 0 && isupper((unsigned char)c_name[4]) &&
        strpbrk(c_name + 5, "abcdefghijklmnopqrstuvwxyz"))
        return is_word((char[]){(char)tolower((unsigned char)c_name[4]), '\0'}) &&
               (size_t)snprintf(ret, size, "%s", c_name) < size;

    /* Fortran: mpi_recv, mpi_recv_, MPI_RECV, pmpi_recv_, mpi_recv_f08_, ompi_recv_f. */
    bool ending = true;
    bool f = false;
    while (ending) {
        ending = false;
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            if (drop(name, endings[i])) {
                f |= strcmp(endings[i], "_f") == 0;
                ending = true;
                break;
            }
        }
    }
    const char *rest = name;
    if (strncasecmp(rest, "pmpi_", 5) == 0 || (f && strncmp(rest, "ompi_", 5) == 0))
        rest += 5;
    else if (strncasecmp(rest, "mpi_", 4) == 0)
        rest += 4;
    else
        return false;
    return spell(rest, ret, size);
}
