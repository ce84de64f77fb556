/* SPDX-License-Identifier: BSD-3-Clause */
#include "hosts/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool begins_with_one(const char *variable, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

static bool is_of_a_job(const char *variable)
{
    static const char *const starts[] = {"SLURM_",      "SLURMD_",   "SRUN_",       "SALLOC_",   "SBATCH_",
                                         "OMPI_",       "PMIX_",     "PMI_",        "PRTE_",     "OPAL_",
                                         "ORTE_",       "MPI_",      "MPIR_",       "HYDRA_",    "HYDI_",
                                         "I_MPI_",      "MPICH_",    "MV2_",        "FLUX_JOB_", "PALS_",
                                         "LD_PRELOAD=", "LD_AUDIT=", "MPIQ_RECORD", "GASNET_",   "MPIEXEC_"};
    /* SLURM_CONF says where Slurm is; all else of that name says how a step is to be started. */
    static const char *const others[] = {"SLURM_CONF=", "PRTE_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT"};
    return begins_with_one(variable, starts, sizeof starts / sizeof *starts) &&
           !begins_with_one(variable, others, sizeof others / sizeof *others);
}

char **mpiq_hosts_environment(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0, kept = 0; list && i < count; i++) {
        if (!is_of_a_job(environ[i]))
            list[kept++] = environ[i];
    }
    return list;
}
