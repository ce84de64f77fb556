/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/variables.h"

#include <stddef.h>
#include <string.h>

const char *const mpiq_slurm_rank_variable = "SLURM_PROCID";
const char *const mpiq_slurm_size_variable = "SLURM_STEP_NUM_TASKS";
const char *const mpiq_namespace_variable = "PMIX_NAMESPACE";
const char *const mpiq_parent_variable = "OMPI_PARENT_PORT";

const char *const mpiq_rank_variables[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", NULL};
const char *const mpiq_size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
const char *const mpiq_local_size_variables[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};
const char *const mpiq_host_variables[] = {"PMIX_HOSTNAME", "SLURMD_NODENAME", NULL};
const char *const mpiq_batch_job_variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                                                NULL};

/* Families of variables, by how their names begin. */
static const char *const of_jobs[] = {
    "SLURM_",    "SLURMD_",     "SRUN_",   "SALLOC_",  "SBATCH_",   "OMPI_", "PMIX_",
    "PMI_",      "PRTE_",       "OPAL_",   "ORTE_",    "MPI_",      "MPIR_", "HYDRA_",
    "HYDI_",     "I_MPI_",      "MPICH_",  "MV2_",     "FLUX_JOB_", "PALS_", "LD_PRELOAD=",
    "LD_AUDIT=", "MPIQ_RECORD", "GASNET_", "MPIEXEC_",
};

/* Where Slurm is, and what a launcher may do: all else of those names says how a step is to be started. */
static const char *const of_users[] = {"SLURM_CONF=", "PRTE_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT"};

static bool begins_with_one(const char *variable, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

bool mpiq_variable_is_of_a_job(const char *variable)
{
    return begins_with_one(variable, of_jobs, sizeof of_jobs / sizeof *of_jobs) &&
           !begins_with_one(variable, of_users, sizeof of_users / sizeof *of_users);
}
