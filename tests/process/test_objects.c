/* SPDX-License-Identifier: BSD-3-Clause */
/* However the subject was compiled, linked, stripped, moved or deleted: it is read.
   test_objects SUBJECT SOURCE_FOLDER */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"
#include "support.h"
#include "process/object.h"

static const char *path, *sources;
static char program[256];

/* Compiles the subject anew as scratch()/NAME/program. */
static void compile(const char *name, const char *command)
{
    run("rm -rf %s/%s && mkdir %s/%s && %s -O1 -fno-omit-frame-pointer %s/subject.c %s/subject_other.c -o "
        "%s/%s/program -lpthread 2>%s/compiler",
        scratch(), name, scratch(), name, command, sources, sources, scratch(), name, scratch());
    snprintf(program, sizeof program, "%s/%s/program", scratch(), name);
}

static bool has(const char *tool)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    if (system(command) == 0)
        return true;
    printf("skipped: no %s here\n", tool);
    return false;
}

static struct mpiq_target *open_subject(const struct subject *subject)
{
    struct mpiq_target *target = NULL;
    CHECK_OK(mpiq_target_live_create(subject->pid, false, &target));
    if (!target)
        abort();
    return target;
}

enum { MEMORY = 1, TYPES = 2, STACK = 4, ALL = 7 };

/* Reads the subject, which runs, and ends it. */
static void check_subject(struct subject *subject, int what)
{
    struct mpiq_target *target = open_subject(subject);
    if (what & MEMORY)
        check_memory_and_symbols(target, subject);
    if (what & TYPES)
        check_types(target);
    if (what & STACK)
        check_stack(target, subject);
    mpiq_target_destroy(target);
    subject_end(subject);
}

static void check(int what)
{
    struct subject subject = subject_start(program, "wait");
    check_subject(&subject, what);
}

static void every_way_to_compile(void)
{
    static const char *const commands[] = {
        "gcc -gdwarf-2",
        "gcc -gdwarf-4",
        "gcc -gdwarf-5",
        "gcc -g -gno-strict-dwarf",
        "gcc -gdwarf-4 -fdebug-types-section",
        "gcc -gdwarf-5 -fdebug-types-section",
        "gcc -g -gz=zlib",
        "gcc -g -gz=zlib-gnu",
        "gcc -g -no-pie -fno-pie",
        "gcc -g -static",
        "gcc -g -static-pie",
        "gcc -g -Wl,--build-id=none",
        "gcc -g -Wl,-z,separate-code",
        "gcc -g -Wl,-z,noseparate-code",
        "gcc -g -fno-asynchronous-unwind-tables -fno-unwind-tables",
        "gcc -g -flto",
        "clang -gdwarf-4 -fno-debug-macro",
        "clang -gdwarf-5",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strncmp(commands[i], "clang", 5) == 0 && !has("clang"))
            continue;
        unsigned before = CU_get_number_of_failures();
        compile("compiled", commands[i]);
        check(ALL);
        if (CU_get_number_of_failures() != before)
            fprintf(stderr, "with %s\n", commands[i]);
    }
}

static void split_dwarf_is_read(void)
{
    compile("split", "gcc -g -gsplit-dwarf");
    check(ALL);
}

static void a_separate_debug_file_is_found_by_debuglink(void)
{
    static const char *const places[] = {".", ".debug"};
    for (size_t i = 0; i < 2; i++) {
        compile("separate", "gcc -g");
        run("cd %s/separate && mkdir -p %s && objcopy --only-keep-debug program %s/program.debug && strip "
            "program && "
            "objcopy --add-gnu-debuglink=%s/program.debug program",
            scratch(), places[i], places[i], places[i]);
        check(ALL);
    }
    /* Of another build: not taken. */
    run("cd %s/separate && printf 'int main(void){return 0;}' | gcc -g -x c - -o .debug/program.debug",
        scratch());
    struct subject subject = subject_start(program, "wait");
    struct mpiq_target *target = open_subject(&subject);
    const struct mpiq_target_type *type = NULL;
    mpiq_object_clear();
    CHECK_ERROR(mpiq_target_find_type(target, "struct subject_record", &type), MPIQ_ERROR_NOT_FOUND,
                "no debug information for the type struct subject_record");
    mpiq_target_destroy(target);
    subject_end(&subject);
}

/* A folder can play the server. */
static void a_debug_file_is_had_from_debuginfod(void)
{
    if (system("ldconfig -p | grep -q libdebuginfod") != 0) {
        printf("skipped: no libdebuginfod here\n");
        return;
    }
    compile("server", "gcc -g -rdynamic");
    run("cd %s/server && id=$(readelf -n program | sed -n 's/.*Build ID: //p') && mkdir -p buildid/$id && "
        "objcopy --only-keep-debug program buildid/$id/debuginfo && strip program",
        scratch());
    char url[300], cache[300];
    snprintf(url, sizeof url, "file://%s/server", scratch());
    snprintf(cache, sizeof cache, "%s/server/cache", scratch());
    setenv("DEBUGINFOD_URLS", url, 1);
    setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
    check(TYPES | STACK);
    unsetenv("DEBUGINFOD_URLS");
}

static void dwzs_common_file_is_read(void)
{
    if (!has("dwz"))
        return;
    compile("dwz", "gcc -gdwarf-4");
    run("cd %s/dwz && cp program other && dwz -m common program other 2>/dev/null", scratch());
    check(ALL);
    compile("dwz", "gcc -gdwarf-4");
    run("cd %s/dwz && dwz program", scratch());
    check(ALL);
}

static void a_stripped_program_has_its_dynamic_symbols_and_stacks(void)
{
    compile("stripped", "gcc -g -rdynamic");
    run("strip %s", program);
    struct subject subject = subject_start(program, "wait");
    struct mpiq_target *target = open_subject(&subject);
    uint64_t address = 0;
    CHECK_OK(mpiq_target_find_symbol(target, "subject_record", &address));
    CU_ASSERT_EQUAL(address, subject.record);
    struct mpiq_target_stack stack = {0};
    CHECK_OK(mpiq_target_stack(target, subject.pid, &stack));
    bool found = false;
    for (size_t i = 0; i < stack.count; i++)
        found = found || (stack.frames[i].function && strcmp(stack.frames[i].function, "main") == 0);
    CU_ASSERT_TRUE(found);
    CU_ASSERT_FALSE(stack.truncated);
    mpiq_target_stack_deinit(&stack);
    mpiq_target_destroy(target);
    subject_end(&subject);
}

static void a_deleted_program_is_read(void)
{
    compile("deleted", "gcc -g");
    struct subject subject = subject_start(program, "wait");
    run("rm %s", program);
    check_subject(&subject, ALL);
}

/* What a person does while the job hangs: builds it anew. */
static void a_replaced_program_is_read_as_it_was(void)
{
    compile("replaced", "gcc -g");
    struct subject subject = subject_start(program, "wait");
    run("printf 'struct subject_record {char other[999];} subject_record; int main(void){return 0;}' | gcc "
        "-g -x c - -o %s.new && "
        "mv %s.new %s",
        program, program, program);
    check_subject(&subject, ALL);
}

/* The path leads to another file for us than for it, as with a rank in a container. */
static void another_mount_namespaces_program_is_read(void)
{
    char script[600];
    compile("namespace", "gcc -g");
    run("cd %s/namespace && mkdir inside outside && mv program inside && "
        "printf 'struct subject_record {char other[999];} subject_record; int main(void){return 0;}' | gcc "
        "-g -x c - -o "
        "outside/program",
        scratch());
    snprintf(script, sizeof script, "%s/namespace/start", scratch());
    run("printf '#!/bin/sh\\nexec unshare -m sh -c \"mount --bind %s/namespace/inside %s/namespace/outside "
        "&& exec "
        "%s/namespace/outside/program wait\"' >%s && chmod +x %s",
        scratch(), scratch(), scratch(), script, script);
    if (system("unshare -m true 2>/dev/null") != 0) {
        printf("skipped: no mount namespaces here\n");
        return;
    }
    struct subject subject = subject_start(script, "wait");
    check_subject(&subject, ALL);
}

/* Without root's ways to a deleted file: it is put together from the process's memory. */
static void read_deleted_library(void)
{
    char preload[300];
    snprintf(preload, sizeof preload, "%s/library/liblibrary.so", scratch());
    setenv("LD_PRELOAD", preload, 1);
    struct subject subject = subject_start(program, "wait");
    unsetenv("LD_PRELOAD");
    run("rm %s", preload);
    struct mpiq_target *target = open_subject(&subject);
    uint64_t address = 0, data = 0;
    int value = 0;
    CHECK_OK(mpiq_target_find_symbol(target, "library_data", &data));
    CHECK_OK(mpiq_target_read(target, data, sizeof value, &value));
    CU_ASSERT_EQUAL(value, 5);
    CHECK_OK(mpiq_target_find_symbol(target, "library_function", &address));
    CHECK_ERROR(mpiq_target_find_symbol(target, "library_static", &address), MPIQ_ERROR_NOT_FOUND,
                "library_static");
    check_memory_and_symbols(target, &subject);
    check_stack(target, &subject);
    mpiq_target_destroy(target);
    subject_end(&subject);
}

static void a_deleted_library_is_read_out_of_memory(void)
{
    static const char *const styles[] = {"gnu", "sysv"};
    for (size_t i = 0; i < 2; i++) {
        compile("library", "gcc -g -rdynamic");
        run("chmod 777 %s %s/library && cd %s/library && printf 'static int library_static = 1; int "
            "library_data = 5; int "
            "library_function(void){return library_data + library_static++;}' | gcc -g -shared -fPIC "
            "-Wl,--hash-style=%s -x c "
            "- -o liblibrary.so",
            scratch(), scratch(), scratch(), styles[i]);
        fflush(stdout);
        subject_line("");
        pid_t looker = fork();
        if (looker == 0) {
            if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
                _exit(2);
            unsigned before = CU_get_number_of_failures();
            read_deleted_library();
            for (CU_pFailureRecord failure = CU_get_failure_list(); failure; failure = failure->pNext)
                fprintf(stderr, "%s:%u: %s\n", failure->strFileName, failure->uiLineNumber,
                        failure->strCondition);
            _exit(CU_get_number_of_failures() != before);
        }
        int status = -1;
        waitpid(looker, &status, 0);
        CU_ASSERT_EQUAL(status, 0);
    }
}

/* The same type, not an equal one: the objects are shared. */
static void processes_side_by_side_share_objects(void)
{
    struct subject subjects[4];
    struct mpiq_target *targets[4];
    const struct mpiq_target_type *types[4] = {NULL};
    snprintf(program, sizeof program, "%s", path);
    for (int i = 0; i < 4; i++) {
        subjects[i] = subject_start(program, "wait");
        targets[i] = open_subject(&subjects[i]);
        CHECK_OK(mpiq_target_find_type(targets[i], "struct subject_record", &types[i]));
        check_memory_and_symbols(targets[i], &subjects[i]);
    }
    for (int i = 1; i < 4; i++)
        CU_ASSERT_PTR_EQUAL(types[0], types[i]);
    for (int i = 0; i < 4; i++) {
        mpiq_target_destroy(targets[i]);
        subject_end(&subjects[i]);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3 || !(path = realpath(argv[1], NULL)))
        return 2;
    sources = argv[2];
    CU_TestInfo tests[] = {
        {"every way to compile", every_way_to_compile},
        {"split DWARF is read", split_dwarf_is_read},
        {"a separate debug file is found by debuglink", a_separate_debug_file_is_found_by_debuglink},
        {"a debug file is fetched from debuginfod", a_debug_file_is_had_from_debuginfod},
        {"dwz's common file is read", dwzs_common_file_is_read},
        {"a stripped program has its dynamic symbols and stacks",
         a_stripped_program_has_its_dynamic_symbols_and_stacks},
        {"a deleted program is read", a_deleted_program_is_read},
        {"a replaced program is read as it was mapped", a_replaced_program_is_read_as_it_was},
        {"another mount namespace's program is read", another_mount_namespaces_program_is_read},
        {"a deleted library is read from memory", a_deleted_library_is_read_out_of_memory},
        {"parallel processes share objects", processes_side_by_side_share_objects},
        CU_TEST_INFO_NULL,
    };
    int status = suite_run("objects", tests);
    mpiq_object_clear();
    run("rm -rf %s", scratch());
    return status;
}
