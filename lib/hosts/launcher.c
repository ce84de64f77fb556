/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/launcher.h"

#include <string.h>

/* In the order in which they are asked.  ssh is the user's word, and comes first; what runs in
   an allocation of Slurm's is reached through Slurm, whatever started it there. */
static const struct mpiq_launcher *const launchers[] = {&mpiq_launcher_ssh,  &mpiq_launcher_slurm,
                                                        &mpiq_launcher_flux, &mpiq_launcher_pmix,
                                                        &mpiq_launcher_mpir, &mpiq_launcher_hydra};
enum { LAUNCHER_COUNT = sizeof launchers / sizeof *launchers };

const struct mpiq_launcher *mpiq_launcher_detect(const struct mpiq_launch_query *query)
{
    if (query->launcher)
        return query->launcher;
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        if (launchers[i]->detect(query))
            return launchers[i];
    }
    return NULL;
}

const struct mpiq_launcher *mpiq_launcher_of_word(const char *word)
{
    for (size_t i = 0; i < LAUNCHER_COUNT; i++) {
        size_t length = strlen(launchers[i]->name);
        if (strncmp(word, launchers[i]->name, length) == 0 && word[length] == ':')
            return launchers[i];
    }
    return NULL;
}
