/* SPDX-License-Identifier: BSD-3-Clause */
#include "names/programs.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned what;
    const char *launcher; /* the one of lib/hosts that knows its jobs by this program; NULL: none does */
} programs[] = {
    {"mpirun", MPIQ_PROGRAM_LAUNCHER | MPIQ_PROGRAM_HYDRA | MPIQ_PROGRAM_OPEN_MPI},
    {"mpiexec", MPIQ_PROGRAM_LAUNCHER | MPIQ_PROGRAM_HYDRA | MPIQ_PROGRAM_OPEN_MPI},
    {"orterun", MPIQ_PROGRAM_LAUNCHER | MPIQ_PROGRAM_OPEN_MPI, "mpir"},
    {"prterun", MPIQ_PROGRAM_LAUNCHER, "pmix"},
    {"prte", MPIQ_PROGRAM_LAUNCHER, "pmix"},
    {"ompi-prte", MPIQ_PROGRAM_LAUNCHER},
    {"orted", MPIQ_PROGRAM_DAEMON},
    {"prted", MPIQ_PROGRAM_DAEMON},
    {"ompi-prted", MPIQ_PROGRAM_DAEMON},
    {"mpiexec.hydra", MPIQ_PROGRAM_LAUNCHER | MPIQ_PROGRAM_HYDRA, "hydra"},
    {"hydra_pmi_proxy", MPIQ_PROGRAM_DAEMON | MPIQ_PROGRAM_HYDRA},
    {"hydra_bstrap_proxy", MPIQ_PROGRAM_DAEMON | MPIQ_PROGRAM_HYDRA},
    {"srun", MPIQ_PROGRAM_LAUNCHER},
    {"mpiq", MPIQ_PROGRAM_OURS},
    {"mpiq-reader", MPIQ_PROGRAM_OURS},
    {"mpiq-broker", MPIQ_PROGRAM_OURS},
    {"mpiq-dll-host", MPIQ_PROGRAM_OURS},
};

/* What distributions append where several MPI libraries are installed side by side. */
static const char *const endings[] = {".openmpi", ".mpich", ".mpich2", ".slurm"};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static unsigned find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (strlen(programs[i].name) == length && strncmp(programs[i].name, name, length) == 0)
            return programs[i].what;
    }
    return 0;
}

unsigned mpiq_program(const char *path)
{
    const char *name = base_name(path);
    size_t length = strlen(name);
    unsigned what = find(name, length);
    for (size_t i = 0; !what && i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            what = find(name, length - ending);
    }
    return what;
}

bool mpiq_program_is_of(const char *path, const char *launcher)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (programs[i].launcher && strcmp(programs[i].launcher, launcher) == 0 &&
            strcmp(programs[i].name, base_name(path)) == 0)
            return true;
    }
    return false;
}
