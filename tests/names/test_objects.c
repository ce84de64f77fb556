/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose a loaded object is: by what it defines and loads, whatever its file is called. */
#include "names/objects.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

enum { MOST = 24 };

/* Symbols that an object defines: a bit for each of mpiq_telling_symbols. */
static uint32_t defining(const char *const *names)
{
    uint32_t bits = 0;
    for (; *names; names++) {
        for (unsigned i = 0; i < MPIQ_TELLING_SYMBOLS && mpiq_telling_symbols[i]; i++)
            bits |= strcmp(mpiq_telling_symbols[i], *names) == 0 ? UINT32_C(1) << i : 0;
    }
    return bits;
}

static const char *const c_library[] = {"MPI_Init", "PMPI_Init", NULL};
static const char *const c_tool[] = {"MPI_Init", NULL};
static const char *const fortran_layer[] = {"mpi_init_", "pmpi_init_", NULL};
static const char *const cxx_layer[] = {"_ZN3MPI4InitEv", NULL};
static const char *const recorder[] = {"MPI_Init", "PMPI_Init", "mpiq_record_root", NULL};

struct row {
    const char *path, *soname;
    const char *needs[6];
    const char *const *defines;
    bool program, unread;
    enum mpiq_object_owner owner;
};

#define EXPECT_OWNERS(rows) expect_owners(rows, sizeof(rows) / sizeof *(rows))
static void expect_owners(const struct row *rows, size_t count)
{
    struct mpiq_loaded_object objects[MOST];
    uint8_t owners[MOST];
    for (size_t i = 0; i < count; i++) {
        objects[i] = (struct mpiq_loaded_object){.path = rows[i].path,
                                                 .soname = rows[i].soname,
                                                 .needs = rows[i].needs,
                                                 .defines = rows[i].defines ? defining(rows[i].defines) : 0,
                                                 .program = rows[i].program,
                                                 .unread = rows[i].unread};
        while (rows[i].needs[objects[i].need_count])
            objects[i].need_count++;
    }
    CU_ASSERT_TRUE_FATAL(mpiq_tell_owners(objects, count, owners));
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(owners[i], rows[i].owner);
        if (owners[i] != rows[i].owner)
            printf("\n%s: %d instead of %d\n", rows[i].path, owners[i], rows[i].owner);
    }
}

static void libraries_are_told_by_what_they_define(void)
{
    static const struct row rows[] = {
        {"/home/me/mpirun",
         NULL,
         {"libsolver_mpi.so", "libmpi.so.40", "libc.so.6"},
         NULL,
         true,
         false,
         MPIQ_OWNER_PROGRAM},
        {"/opt/x/libvendor.so.7", "libvendor.so.7", {"libc.so.6"}, c_library, false, false, MPIQ_OWNER_MPI},
        {"/home/me/libsolver_mpi.so",
         "libsolver_mpi.so",
         {"libmpi.so.40"},
         NULL,
         false,
         false,
         MPIQ_OWNER_USER},
        {"/home/me/libmpi.so", "libmpi.so", {"libc.so.6"}, NULL, false, false, MPIQ_OWNER_USER},
        {"/home/me/libmpich.so.12", "libmpich.so.12", {"libc.so.6"}, NULL, false, false, MPIQ_OWNER_USER},
        {"/home/me/libmpip.so", NULL, {"libc.so.6"}, c_tool, false, false, MPIQ_OWNER_USER},
        {"/home/me/mca_pml_mine.so", NULL, {"libc.so.6"}, NULL, false, false, MPIQ_OWNER_USER},
        {"/opt/x/libfort.so", "libfort.so", {"libvendor.so.7"}, fortran_layer, false, false, MPIQ_OWNER_MPI},
        {"/opt/x/libcxx.so", "libcxx.so", {"libvendor.so.7"}, cxx_layer, false, false, MPIQ_OWNER_MPI},
        {"/home/me/libmyMPI.so", NULL, {"libc.so.6"}, cxx_layer, false, false, MPIQ_OWNER_USER},
        {"/opt/x/libmpi_usempif08.so.40", NULL, {"libvendor.so.7"}, NULL, false, false, MPIQ_OWNER_MPI},
        {"/opt/mpiq/libmpiq_record.so", NULL, {"libc.so.6"}, recorder, false, false, MPIQ_OWNER_RECORDER},
        {"/lib/libc.so.6", "libc.so.6", {NULL}, NULL, false, false, MPIQ_OWNER_SYSTEM},
        {"/lib/libc-2.31.so", NULL, {NULL}, NULL, false, false, MPIQ_OWNER_SYSTEM},
        {"/home/me/libcrypt-mine.so", NULL, {NULL}, NULL, false, false, MPIQ_OWNER_USER},
        {"/usr/lib/libmpich.so.12.2.2", NULL, {NULL}, NULL, false, true, MPIQ_OWNER_MPI},
    };
    EXPECT_OWNERS(rows);
}

static void parts_are_what_the_library_alone_loads(void)
{
    static const struct row rows[] = {
        {"/home/me/solver",
         NULL,
         {"libmpi.so.40", "libprogress.so", "libhwloc.so.15", "libopen-pal.so.40"},
         NULL,
         true,
         false,
         MPIQ_OWNER_PROGRAM},
        {"/usr/lib/libmpi.so.40.30.4",
         "libmpi.so.40",
         {"libopen-pal.so.40", "libhwloc.so.15", "libc.so.6"},
         c_library,
         false,
         false,
         MPIQ_OWNER_MPI},
        /* Old wrappers link it to every program. */
        {"/usr/lib/libopen-pal.so.40.30.2",
         "libopen-pal.so.40",
         {"libevent_core-2.1.so.7"},
         NULL,
         false,
         false,
         MPIQ_OWNER_PART},
        {"/usr/lib/libevent_core-2.1.so.7.0.1",
         "libevent_core-2.1.so.7",
         {"libc.so.6"},
         NULL,
         false,
         false,
         MPIQ_OWNER_PART},
        {"/usr/lib/libhwloc.so.15.6.1",
         "libhwloc.so.15",
         {"libudev.so.1"},
         NULL,
         false,
         false,
         MPIQ_OWNER_SHARED},
        {"/usr/lib/libudev.so.1.7.5", "libudev.so.1", {NULL}, NULL, false, false, MPIQ_OWNER_SHARED},
        {"/usr/lib/hwloc/hwloc_opencl.so", NULL, {"libOpenCL.so.1"}, NULL, false, false, MPIQ_OWNER_PART},
        {"/usr/lib/libOpenCL.so.1", "libOpenCL.so.1", {NULL}, NULL, false, false, MPIQ_OWNER_SHARED},
        {"/usr/lib/openmpi/lib/openmpi3/mca_pml_ob1.so",
         NULL,
         {"libopen-pal.so.40"},
         NULL,
         false,
         false,
         MPIQ_OWNER_PART},
        {"/usr/lib/openmpi/lib/openmpi3/mca_pmix_ext3x.so",
         NULL,
         {"libpmix.so.2"},
         NULL,
         false,
         false,
         MPIQ_OWNER_PART},
        {"/usr/lib/pmix2/lib/libpmix.so.2.6.2", "libpmix.so.2", {NULL}, NULL, false, false, MPIQ_OWNER_PART},
        {"/usr/lib/pmix2/lib/pmix/pmix_mca_pcompress_zlib.so",
         NULL,
         {NULL},
         NULL,
         false,
         false,
         MPIQ_OWNER_PART},
        {"/home/me/libprogress.so", "libprogress.so", {NULL}, NULL, false, false, MPIQ_OWNER_USER},
        {"/home/me/openmpi/mca_user.so", NULL, {NULL}, NULL, false, false, MPIQ_OWNER_USER},
        {"/home/me/libucsomething.so", NULL, {NULL}, NULL, false, false, MPIQ_OWNER_USER},
        {"/usr/lib/libprotobuf.so.32", NULL, {NULL}, NULL, false, false, MPIQ_OWNER_USER},
    };
    EXPECT_OWNERS(rows);
}

static void a_static_program_is_the_users(void)
{
    static const struct row rows[] = {
        {"/home/me/solver", NULL, {"libucp.so.0", "libc.so.6"}, c_library, true, false, MPIQ_OWNER_PROGRAM},
        {"/usr/lib/libucp.so.0", "libucp.so.0", {NULL}, NULL, false, false, MPIQ_OWNER_USER},
    };
    EXPECT_OWNERS(rows);
}

static void whole_names_count_where_nothing_else_is_known(void)
{
    static const struct {
        const char *path;
        enum mpiq_object_owner owner;
    } rows[] = {
        {"/usr/lib/libmpi.so.40.30.4", MPIQ_OWNER_MPI},
        {"libmpich.so.12", MPIQ_OWNER_MPI},
        {"/usr/lib/libmpi_mpifh.so.40", MPIQ_OWNER_MPI},
        {"/x/mca_btl_tcp.so", MPIQ_OWNER_PART},
        {"/x/libevent_core-2.1.so.7.0.1", MPIQ_OWNER_PART},
        {"/x/libucs.so.0", MPIQ_OWNER_PART},
        {"/x/libsolver_mpi.so", MPIQ_OWNER_USER},
        {"/x/libmpi_solver.so", MPIQ_OWNER_USER},
        {"/x/libprogress.so", MPIQ_OWNER_USER},
        {"/x/libprotobuf.so.32", MPIQ_OWNER_USER},
        {"/x/libucsomething.so", MPIQ_OWNER_USER},
        {"/x/libpmixer.so", MPIQ_OWNER_USER},
        {"/x/ld-linux-x86-64.so.2", MPIQ_OWNER_SYSTEM},
        {"/x/libpthread-2.31.so", MPIQ_OWNER_SYSTEM},
        {"/x/libcurl.so.4", MPIQ_OWNER_USER},
        {"/x/mpirun", MPIQ_OWNER_USER},
        {"/x/libmpiq_record.so", MPIQ_OWNER_RECORDER},
        {"", MPIQ_OWNER_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(mpiq_owner_by_file(rows[i].path), rows[i].owner);
        if (mpiq_owner_by_file(rows[i].path) != rows[i].owner)
            printf("\n%s: %d\n", rows[i].path, mpiq_owner_by_file(rows[i].path));
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"libraries are told by what they define", libraries_are_told_by_what_they_define},
        {"parts are what the library alone loads", parts_are_what_the_library_alone_loads},
        {"a program that MPI is linked into is the user's", a_static_program_is_the_users},
        {"whole names count where nothing else is known", whole_names_count_where_nothing_else_is_known},
        CU_TEST_INFO_NULL,
    };
    return suite_run("owners of objects", tests);
}
