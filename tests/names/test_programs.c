/* SPDX-License-Identifier: BSD-3-Clause */
/* Which programs start ranks, which variables are a job's, which files are MPI's: by whole names. */
#include "names/objects.h"
#include "names/programs.h"
#include "names/variables.h"

#include "suite.h"

static void programs_are_told_by_their_whole_names(void)
{
    CU_ASSERT_TRUE(mpiq_program_starts_ranks("mpirun"));
    CU_ASSERT_TRUE(mpiq_program_starts_ranks("/usr/bin/mpirun.openmpi"));
    CU_ASSERT_TRUE(mpiq_program_starts_ranks("/usr/bin/mpiexec.hydra"));
    CU_ASSERT_TRUE(mpiq_program_starts_ranks("hydra_bstrap_proxy"));
    CU_ASSERT_TRUE(mpiq_program("mpirun.openmpi") & MPIQ_PROGRAM_OPEN_MPI);
    CU_ASSERT_FALSE(mpiq_program("prterun") & MPIQ_PROGRAM_HYDRA);
    CU_ASSERT_EQUAL(mpiq_program("mpiq-reader"), MPIQ_PROGRAM_OURS);
    CU_ASSERT_EQUAL(mpiq_program("mpirun_solver"), 0);
    CU_ASSERT_EQUAL(mpiq_program("/home/me/mpirun/solver"), 0);
    CU_ASSERT_EQUAL(mpiq_program("my-mpirun"), 0);
    CU_ASSERT_EQUAL(mpiq_program("mpirun.sh"), 0);
    CU_ASSERT_EQUAL(mpiq_program(""), 0);
}

static void a_launcher_is_told_by_its_own_program(void)
{
    CU_ASSERT_TRUE(mpiq_program_is_of("/usr/bin/mpiexec.hydra", "hydra"));
    CU_ASSERT_TRUE(mpiq_program_is_of("orterun", "mpir"));
    CU_ASSERT_TRUE(mpiq_program_is_of("/opt/ompi/bin/prte", "pmix"));
    CU_ASSERT_FALSE(mpiq_program_is_of("/usr/bin/orterun", "pmix"));
    CU_ASSERT_FALSE(mpiq_program_is_of("/usr/bin/hydra_pmi_proxy", "hydra"));
    CU_ASSERT_FALSE(mpiq_program_is_of("/usr/bin/mpirun", "hydra"));
    CU_ASSERT_FALSE(mpiq_program_is_of("", "hydra"));
}

static void variables_of_a_job_are_told(void)
{
    CU_ASSERT_TRUE(mpiq_variable_is_of_a_job("PMIX_RANK=3"));
    CU_ASSERT_TRUE(mpiq_variable_is_of_a_job("LD_PRELOAD=/x.so"));
    CU_ASSERT_FALSE(mpiq_variable_is_of_a_job("LD_PRELOAD_MINE=1"));
    CU_ASSERT_FALSE(mpiq_variable_is_of_a_job("SLURM_CONF=/etc/slurm.conf"));
    CU_ASSERT_FALSE(mpiq_variable_is_of_a_job("PATH=/bin"));
}

static void mappings_of_mpi_are_told(void)
{
    CU_ASSERT_TRUE(mpiq_maps_mpi("55e0-55f0 r-xp 0 fe:01 7  /home/me/a.out\n"
                                 "7f00-7f10 r-xp 0 fe:01 8  /usr/lib/libmpi.so.40.30.4\n"));
    CU_ASSERT_TRUE(mpiq_maps_mpi("7f00-7f10 r-xp 0 fe:01 8  /opt/my mpi/libmpich.so.12"));
    CU_ASSERT_FALSE(
        mpiq_maps_mpi("7f00-7f10 r-xp 0 fe:01 8  /home/me/libmpi_solver.so\n"
                      "7f10-7f20 r-xp 0 fe:01 8  /home/me/libmpi.d/x.so\n7f20-7f30 rw-p 0 0 0\n"));
    CU_ASSERT_FALSE(mpiq_maps_mpi(""));
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"programs are told by their whole names", programs_are_told_by_their_whole_names},
        {"a launcher is told by its own program", a_launcher_is_told_by_its_own_program},
        {"variables of a job are told", variables_of_a_job_are_told},
        {"mappings of MPI are told", mappings_of_mpi_are_told},
        CU_TEST_INFO_NULL,
    };
    return suite_run("programs and variables", tests);
}
