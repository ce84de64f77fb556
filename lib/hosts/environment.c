/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/environment.h"

#include <stdlib.h>
#include <unistd.h>

#include "names/variables.h"

char **mpiq_hosts_environment(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0, kept = 0; list && i < count; i++) {
        if (!mpiq_variable_is_of_a_job(environ[i]))
            list[kept++] = environ[i];
    }
    return list;
}
