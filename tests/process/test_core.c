/* SPDX-License-Identifier: BSD-3-Clause */
/* Core files: the kernel's and gcore's give what the process gave; what is missing is named.
   test_core SUBJECT; 77 if neither kind can be made here. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "support.h"
#include "process/object.h"

static const char *path;

static bool has_gcore(void)
{
    return system("gcore 2>&1 | grep -q usage: || command -v gcore >/dev/null") == 0;
}

/* Whether the kernel writes plain files into the process's directory. */
static bool kernel_writes_files(void)
{
    char pattern[256] = "|";
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");
    bool got = file && fgets(pattern, sizeof pattern, file);
    if (file)
        fclose(file);
    return got && pattern[0] != '|' && pattern[0] != '/';
}

/* A copy of the subject and its core, in a folder of that name in scratch(). */
struct dead {
    struct subject subject;
    char program[256];
    char core[512];
};

static struct dead prepare(const char *name)
{
    struct dead dead = {.core = ""};
    run("rm -rf %s/%s && mkdir %s/%s && cp %s %s/%s/program", scratch(), name, scratch(), name, path,
        scratch(), name);
    snprintf(dead.program, sizeof dead.program, "%s/%s/program", scratch(), name);
    return dead;
}

static struct dead die_by_gcore(const char *name)
{
    struct dead dead = prepare(name);
    dead.subject = subject_start(dead.program, "wait");
    run("gcore -o %s/%s/core %d >/dev/null 2>&1", scratch(), name, (int)dead.subject.pid);
    snprintf(dead.core, sizeof dead.core, "%s/%s/core.%d", scratch(), name, (int)dead.subject.pid);
    subject_end(&dead.subject);
    return dead;
}

static struct dead die_by_kernel(const char *name, const char *filter)
{
    struct dead dead = prepare(name);
    char here[4096], folder[256], file[64];
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    snprintf(folder, sizeof folder, "%s/%s", scratch(), name);
    if (!getcwd(here, sizeof here) || chdir(folder) != 0 || setrlimit(RLIMIT_CORE, &limit) != 0)
        abort();
    dead.subject = subject_start(dead.program, "wait");
    if (chdir(here) != 0)
        abort();
    snprintf(file, sizeof file, "/proc/%d/coredump_filter", (int)dead.subject.pid);
    FILE *setting = filter ? fopen(file, "w") : NULL;
    if (setting) {
        fputs(filter, setting);
        fclose(setting);
    }
    kill(dead.subject.pid, SIGABRT);
    siginfo_t ended;
    waitid(P_PID, (id_t)dead.subject.pid, &ended, WEXITED | WNOWAIT); /* the core is whole by then */
    subject_end(&dead.subject);
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        if (strcmp(entry->d_name, "program") != 0 && entry->d_name[0] != '.')
            snprintf(dead.core, sizeof dead.core, "%s/%.200s", folder, entry->d_name);
    }
    if (entries)
        closedir(entries);
    return dead;
}

static struct mpiq_target *open_core(const char *core, const char *executable)
{
    struct mpiq_target *target = NULL;
    CHECK_OK(mpiq_target_core_create(core, executable, &target));
    if (!target)
        abort();
    return target;
}

static void check_all(const struct dead *dead)
{
    struct mpiq_target *target = open_core(dead->core, NULL);
    check_memory_and_symbols(target, &dead->subject);
    check_types(target);
    check_stack(target, &dead->subject);

    struct mpiq_target_status status = {0};
    CHECK_OK(mpiq_target_status(target, &status));
    CU_ASSERT_TRUE(status.core);
    CU_ASSERT_EQUAL(status.pid, dead->subject.pid);
    CU_ASSERT_EQUAL(status.state, '?');
    CU_ASSERT_EQUAL(status.uid, getuid());
    CU_ASSERT_STRING_EQUAL(status.executable, dead->program);

    struct mpiq_target_thread *threads = NULL;
    size_t count = 0;
    CHECK_OK(mpiq_target_threads(target, &threads, &count));
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT(count && threads[0].tid == dead->subject.pid && strcmp(threads[0].name, "program") == 0);
#ifdef __x86_64__
    CU_ASSERT(count && threads[0].state == 'S' && threads[0].system_call == SYS_pause);
#endif
    free(threads);
    mpiq_target_forget(target);
    mpiq_target_destroy(target);
}

static void gcores_core_gives_everything(void)
{
    if (!has_gcore())
        return;
    struct dead dead = die_by_gcore("gcore");
    check_all(&dead);
}

static void the_kernels_core_gives_everything(void)
{
    if (!kernel_writes_files())
        return;
    struct dead dead = die_by_kernel("kernel", NULL);
    check_all(&dead);
}

/* A core of either kind. */
static struct dead die(const char *name)
{
    return has_gcore() ? die_by_gcore(name) : die_by_kernel(name, NULL);
}

static void a_missing_executable_is_named_by_its_build_id(void)
{
    struct dead dead = die("missing");
    char moved[300], byte;
    uint64_t address = 0;
    struct mpiq_target *target = open_core(dead.core, NULL);
    CHECK_OK(mpiq_target_find_symbol(target, "subject_constant", &address));
    mpiq_target_destroy(target);
    mpiq_object_clear();
    snprintf(moved, sizeof moved, "%s.moved", dead.program);
    CU_ASSERT_EQUAL(rename(dead.program, moved), 0);

    target = open_core(dead.core, NULL);
    CHECK_ERROR(mpiq_target_read(target, address, 1, &byte), MPIQ_ERROR_NOT_FOUND,
                "which the process had mapped, is not");
    CHECK_ERROR(mpiq_target_read(target, address, 1, &byte), MPIQ_ERROR_NOT_FOUND, ", build-id ");
    CHECK_ERROR(mpiq_target_find_symbol(target, "subject_constant", &address), MPIQ_ERROR_NOT_FOUND,
                dead.program);
    /* What the core holds is there all the same, and a library's symbols too. */
    CHECK_OK(mpiq_target_read(target, dead.subject.record, 1, &byte));
    CHECK_OK(mpiq_target_find_symbol(target, "getpid", &address));
    mpiq_target_destroy(target);

    /* Its new name may be given. */
    target = open_core(dead.core, moved);
    check_memory_and_symbols(target, &dead.subject);
    check_stack(target, &dead.subject);
    mpiq_target_destroy(target);
}

static void a_different_executable_is_refused(void)
{
    struct dead dead = die("different");
    char byte;
    uint64_t address = 0;
    struct mpiq_target *target = open_core(dead.core, NULL);
    CHECK_OK(mpiq_target_find_symbol(target, "subject_constant", &address));
    mpiq_target_destroy(target);
    run("objcopy --strip-all %s %s.other && cp %s.other %s && printf 'int main(void){return 0;}' | cc -x c - "
        "-o %s",
        dead.program, dead.program, dead.program, dead.program, dead.program);
    target = open_core(dead.core, NULL);
    CHECK_ERROR(mpiq_target_read(target, address, 1, &byte), MPIQ_ERROR_NOT_FOUND, "build-id");
    CHECK_ERROR(mpiq_target_find_symbol(target, "subject_constant", &address), MPIQ_ERROR_NOT_FOUND,
                "is not the file that the process mapped");
    CHECK_ERROR(mpiq_target_read(target, address, 1, &byte), MPIQ_ERROR_NOT_FOUND, "--objects DIR");
    mpiq_target_destroy(target);
}

static void a_core_that_was_cut_off_says_so(void)
{
    struct dead dead = die("cut");
    struct stat file;
    char byte;
    CU_ASSERT_EQUAL(stat(dead.core, &file), 0);
    /* gcore writes the notes last, the kernel first: cut where memory ends, or before. */
    for (int tenth = 9; tenth > 0; tenth--) {
        if (truncate(dead.core, file.st_size * tenth / 10) != 0)
            abort();
        struct mpiq_target *target = NULL;
        struct mpiq_error *error = mpiq_target_core_create(dead.core, NULL, &target);
        if (error) {
            CU_ASSERT_EQUAL(error->code, MPIQ_ERROR_CORRUPT);
            mpiq_error_destroy(error);
            continue;
        }
        struct mpiq_target_stack stack = {0};
        error = mpiq_target_read(target, dead.subject.record, 1, &byte);
        CU_ASSERT(!error || (error->code == MPIQ_ERROR_SHORT && strstr(error->message, "is incomplete")));
        mpiq_error_destroy(error);
        error = mpiq_target_stack(target, dead.subject.pid, &stack);
        CU_ASSERT(error || stack.count > 0);
        mpiq_error_destroy(error);
        mpiq_target_stack_deinit(&stack);
        mpiq_target_destroy(target);
    }
}

/* The program header that maps address, and where it is in the file. */
static bool find_segment(int file, uint64_t address, Elf64_Phdr *ret, off_t *place)
{
    Elf64_Ehdr header;
    if (pread(file, &header, sizeof header, 0) != sizeof header)
        return false;
    for (int i = 0; i < header.e_phnum; i++) {
        *place = (off_t)(header.e_phoff + i * sizeof *ret);
        if (pread(file, ret, sizeof *ret, *place) == sizeof *ret && ret->p_type == PT_LOAD &&
            address - ret->p_vaddr < ret->p_filesz)
            return true;
    }
    return false;
}

#ifdef __aarch64__
enum { STACK_POINTER = 31 };
#else
enum { STACK_POINTER = 7 };
#endif

/* The main thread's. */
static struct mpiq_target_stack read_stack(const struct dead *dead)
{
    struct mpiq_target_stack stack = {0};
    struct mpiq_target *target = open_core(dead->core, NULL);
    CHECK_OK(mpiq_target_stack(target, dead->subject.pid, &stack));
    mpiq_target_destroy(target);
    return stack;
}

static void a_stack_without_its_outer_part_says_so(void)
{
    struct dead dead = die("outer");
    struct mpiq_target_stack whole = read_stack(&dead);
    CU_ASSERT_FALSE(whole.truncated);
    CU_ASSERT_FATAL(whole.register_count > 1);
    uint64_t inner = whole.registers[0].value[STACK_POINTER];
    uint64_t outer = whole.registers[whole.register_count - 1].value[STACK_POINTER];
    CU_ASSERT_FATAL(inner < outer);
    Elf64_Phdr segment;
    off_t place = 0;
    int file = open(dead.core, O_RDWR);
    CU_ASSERT_FATAL(find_segment(file, inner, &segment, &place));
    for (uint64_t end = inner; end < outer; end += 8) {
        segment.p_filesz = end - segment.p_vaddr;
        if (pwrite(file, &segment, sizeof segment, place) != sizeof segment)
            abort();
        struct mpiq_target_stack stack = read_stack(&dead);
        CU_ASSERT(stack.count > 0 && stack.count <= whole.count);
        CU_ASSERT(stack.count == whole.count || (stack.truncated && stack.why));
        for (size_t i = 0; i < stack.count && i < whole.count; i++)
            CU_ASSERT_EQUAL(stack.frames[i].pc, whole.frames[i].pc);
        mpiq_target_stack_deinit(&stack);
    }
    close(file);
    mpiq_target_stack_deinit(&whole);
}

#ifdef __x86_64__
static void a_frame_that_returns_to_0_is_the_outermost(void)
{
    struct dead dead = die("zero");
    struct mpiq_target_stack whole = read_stack(&dead);
    Elf64_Phdr segment;
    off_t place = 0;
    int file = open(dead.core, O_RDWR);
    for (size_t i = whole.register_count - 1; i > 1; i--) {
        uint64_t address = whole.registers[i].value[STACK_POINTER] - 8, zero = 0;
        CU_ASSERT_FATAL(find_segment(file, address, &segment, &place));
        if (pwrite(file, &zero, 8, (off_t)(segment.p_offset + (address - segment.p_vaddr))) != 8)
            abort();
        struct mpiq_target_stack stack = read_stack(&dead);
        CU_ASSERT_EQUAL(stack.register_count, i);
        CU_ASSERT_FALSE(stack.truncated);
        mpiq_target_stack_deinit(&stack);
    }
    close(file);
    mpiq_target_stack_deinit(&whole);
}
#endif

static void what_was_left_out_is_told_from_what_never_was(void)
{
    if (!kernel_writes_files())
        return;
    struct dead dead = die_by_kernel("filtered", "0");
    char byte;
    uint64_t address = 0;
    struct mpiq_target *target = open_core(dead.core, NULL);
    CHECK_ERROR(mpiq_target_read(target, dead.subject.record, 1, &byte), MPIQ_ERROR_UNMAPPED,
                "coredump_filter");
    CHECK_ERROR(mpiq_target_read(target, 4096, 1, &byte), MPIQ_ERROR_UNMAPPED, "had no memory at 0x1000");
    CHECK_OK(mpiq_target_find_symbol(target, "subject_record", &address));
    CU_ASSERT_EQUAL(address, dead.subject.record);
    mpiq_target_destroy(target);
    /* Without build-ids a file that is newer than the core cannot be the right one. */
    run("touch -d '1 hour' %s", dead.program);
    target = open_core(dead.core, NULL);
    CHECK_ERROR(mpiq_target_find_symbol(target, "subject_record", &address), MPIQ_ERROR_NOT_FOUND,
                "newer than the core");
    mpiq_target_destroy(target);
}

static void other_files_are_no_cores(void)
{
    struct mpiq_target *target = NULL;
    CHECK_ERROR(mpiq_target_core_create("/nonexistent", NULL, &target), MPIQ_ERROR_NOT_FOUND, "/nonexistent");
    CHECK_ERROR(mpiq_target_core_create(path, NULL, &target), MPIQ_ERROR_CORRUPT, "not a core file");
    CHECK_ERROR(mpiq_target_core_create("/etc/passwd", NULL, &target), MPIQ_ERROR_CORRUPT, "not a core file");
    CHECK_ERROR(mpiq_target_core_create("/dev/null", NULL, &target), MPIQ_ERROR_CORRUPT, "not a core file");
    CHECK_ERROR(mpiq_target_core_create("/tmp", NULL, &target), MPIQ_ERROR_CORRUPT, "not a core file");
    CU_ASSERT_PTR_NULL(target);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !(path = realpath(argv[1], NULL)))
        return 2;
    if (!has_gcore() && !kernel_writes_files()) {
        printf("skipped: no gcore here, and the kernel's core_pattern writes no files\n");
        return 77;
    }
    CU_TestInfo tests[] = {
        {"gcore's core gives everything", gcores_core_gives_everything},
        {"the kernel's core gives everything", the_kernels_core_gives_everything},
        {"a missing executable is named by its build-id", a_missing_executable_is_named_by_its_build_id},
        {"a different executable is refused", a_different_executable_is_refused},
        {"a truncated core is reported as such", a_core_that_was_cut_off_says_so},
        {"a stack whose outer part is not in the core says so", a_stack_without_its_outer_part_says_so},
#ifdef __x86_64__
        {"a frame that returns to 0 is the outermost one", a_frame_that_returns_to_0_is_the_outermost},
#endif
        {"memory left out of a core is told from unmapped memory",
         what_was_left_out_is_told_from_what_never_was},
        {"files that are not cores are refused", other_files_are_no_cores},
        CU_TEST_INFO_NULL,
    };
    int status = suite_run("core target", tests);
    mpiq_object_clear();
    run("rm -rf %s", scratch());
    return status;
}
