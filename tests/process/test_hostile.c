/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a process, a core or debug information names, made to hang or end whoever reads them.
   test_hostile SUBJECT SOURCE_FOLDER */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "suite.h"
#include "support.h"
#include "process/debug_info.h"
#include "process/debug_sections.h"
#include "process/file_map.h"
#include "process/lines.h"
#include "process/object.h"
#include "process/object_dirs.h"
#include "process/symbols.h"
#include "process/types.h"

static const char *sources;

/* Compiles the subject as scratch()/NAME/program and returns that path. */
static const char *compile(const char *name, const char *command)
{
    static char program[256];
    run("rm -rf %s/%s && mkdir %s/%s && cd %s/%s && %s -O1 %s/subject.c %s/subject_other.c -o program "
        "-lpthread",
        scratch(), name, scratch(), name, scratch(), name, command, sources, sources);
    snprintf(program, sizeof program, "%s/%s/program", scratch(), name);
    return program;
}

static struct mpiq_object *open_object(const char *path)
{
    struct mpiq_object *object = NULL;
    CHECK_OK(mpiq_object_open(path, path, &object));
    if (!object)
        abort();
    return object;
}

/* Whoever hangs is ended by the alarm. */
static void has_no_types(const char *path)
{
    alarm(300);
    CU_ASSERT_PTR_NULL(mpiq_types_find(open_object(path), "struct subject_record"));
    alarm(0);
    mpiq_object_clear();
}

static void a_fifo_as_debug_file_does_not_hang(void)
{
    const char *program = compile("fifo", "gcc -g");
    run("cd %s/fifo && objcopy --only-keep-debug program program.debug && strip program && objcopy "
        "--add-gnu-debuglink=program.debug program && rm program.debug && mkfifo program.debug",
        scratch());
    has_no_types(program);
}

static void a_fifo_or_itself_as_common_file_does_not_hang(void)
{
    if (system("command -v dwz >/dev/null 2>&1") != 0) {
        printf("skipped: no dwz here\n");
        return;
    }
    const char *program = compile("common", "gcc -gdwarf-4");
    run("cd %s/common && cp program other && dwz -m common program other 2>/dev/null && cp program whole && "
        "cp common kept && rm common && mkfifo common",
        scratch());
    alarm(300);
    struct mpiq_object *object = open_object(program);
    mpiq_types_find(object, "struct subject_record"); /* what is in the common file alone is not found */
    mpiq_types_find(object, "struct _IO_FILE");
    alarm(0);
    mpiq_object_clear();
    /* The common file that names itself as its own: with its own build-id in the link, it would be opened for
       ever. */
    run("cd %s/common && rm common && cp kept common && id=$(readelf -n common | sed -n 's/.*Build ID: //p') "
        "&& "
        "(printf 'common\\0'; printf $id | sed 's/../\\\\x&/g' | xargs -0 printf) >link && "
        "objcopy --add-section .gnu_debugaltlink=link common 2>/dev/null",
        scratch());
    alarm(300);
    CU_ASSERT_PTR_NOT_NULL(mpiq_types_find(open_object(program), "struct subject_record"));
    alarm(0);
    mpiq_object_clear();
}

static void a_fifo_as_split_file_does_not_hang(void)
{
    const char *program = compile("split", "gcc -g -gsplit-dwarf");
    run("cd %s/split && for f in *.dwo; do rm $f && mkfifo $f; done", scratch());
    has_no_types(program);
}

static void a_section_that_decompresses_to_more_than_there_is_is_left_out(void)
{
    const char *program = compile("bomb", "gcc -g -gz=zlib");
    /* ch_size of .debug_info: eight bytes behind the section's first eight. */
    run("cd %s/bomb && at=$(readelf -SW program | sed -n 's/.* [.]debug_info *PROGBITS *[0-9a-f]* "
        "\\([0-9a-f]*\\) .*/"
        "\\1/p') && printf '\\377\\377\\377\\377\\377\\377\\377\\077' | dd of=program bs=1 seek=$((0x$at + "
        "8)) "
        "conv=notrunc 2>/dev/null",
        scratch());
    has_no_types(program);
}

/* An assembler source of that name; assemble() makes a library of it, and returns its path. */
static FILE *begin_source(const char *name)
{
    char source[300];
    run("rm -rf %s/%s && mkdir %s/%s", scratch(), name, scratch(), name);
    snprintf(source, sizeof source, "%s/%s/source.s", scratch(), name);
    FILE *file = fopen(source, "w");
    if (!file)
        abort();
    return file;
}

static const char *assemble(const char *name, FILE *file)
{
    static char program[256];
    fclose(file);
    snprintf(program, sizeof program, "%s/%s/program", scratch(), name);
    run("gcc -shared -nostdlib %s/%s/source.s -o %s", scratch(), name, program);
    return program;
}

/* A unit of "struct outer", which has an entry with one attribute (a 4-byte reference to itself), and of
   "struct after".  The attribute's name, and what stands before its abbreviation, are given as assembler
   bytes. */
static const char *compile_siblings(const char *name, const char *attribute, const char *before)
{
    FILE *file = begin_source(name);
    fprintf(file,
            ".section .debug_info\n.long 2f - 1f\n1: .short 4\n.long 0\n.byte 8\n"
            ".byte 1\n.byte 2\n.asciz \"outer\"\n3: .byte 3\n.long 3b - 1b + 4\n.byte 0, 0\n"
            ".byte 4\n.asciz \"after\"\n.byte 24, 0\n2:\n"
            ".section .debug_abbrev\n.byte 1, 0x11, 1, 0, 0\n.byte 2, 0x13, 1, 3, 8, 0, 0\n"
            ".byte 4, 0x13, 0, 3, 8, 0x0b, 0x0b, 0, 0\n%s\n.byte 3, 0x13, 1, %s, 0x13, 0, 0\n.byte 0\n",
            before, attribute);
    return assemble(name, file);
}

static void a_sibling_that_points_back_does_not_hang(void)
{
    static const char *const circles[][2] = {
        {"1", ""},                             /* DW_AT_sibling */
        {"0x81, 0", ""},                       /* the same, longer than it need be */
        {"1", ".byte 0x80, 0, 0x13, 0, 0, 0"}, /* behind what one reader takes for the end of the table, and
                                                  another does not */
    };
    uint64_t size;
    /* DW_AT_type instead: the struct behind it is found. */
    const struct mpiq_type *after =
        mpiq_types_find(open_object(compile_siblings("forward", "0x49", "")), "struct after");
    CU_ASSERT(after && mpiq_type_size(after, &size) && size == 24);
    mpiq_object_clear();
    for (size_t i = 0; i < sizeof circles / sizeof *circles; i++) {
        char name[16];
        snprintf(name, sizeof name, "circle%zu", i);
        const char *program = compile_siblings(name, circles[i][0], circles[i][1]);
        alarm(300);
        CU_ASSERT_PTR_NULL(mpiq_types_find(open_object(program), "struct after"));
        CU_ASSERT_PTR_NOT_NULL(mpiq_types_find(open_object(program), "struct outer"));
        alarm(0);
        mpiq_object_clear();
    }
}

/* Code of 16 bytes, of which a line table of DWARF 5 says that it is line 7.  The two lists of its header,
   each from its format on, are given as assembler lines. */
static const char *compile_line_table(const char *name, const char *directories, const char *files)
{
    FILE *file = begin_source(name);
    fprintf(file,
            ".globl code\n.type code, @function\ncode: .skip 16, 0x90\n.size code, 16\n"
            ".section .debug_info\n.long 2f - 1f\n1: .short 5\n.byte 1, 8\n.long 0\n"
            ".byte 1\n.quad code\n.long 16, 0\n2:\n"
            ".section .debug_abbrev\n.byte 1, 0x11, 0, 0x11, 1, 0x12, 6, 0x10, 0x17, 0, 0, 0\n"
            ".section .debug_line\n.long 4f - 3f\n3: .short 5\n.byte 8, 0\n.long 6f - 5f\n"
            "5: .byte 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1\n%s\n%s\n"
            "6: .byte 0, 9, 2\n.quad code\n.byte 3, 6, 1, 2, 16, 0, 1, 1\n4:\n",
            directories, files);
    return assemble(name, file);
}

/* The line of its code, 0 if it has none. */
static int line_of_code(const char *program)
{
    struct mpiq_object *object = open_object(program);
    uint64_t address = 0;
    size_t count = 0;
    CU_ASSERT_TRUE(mpiq_symbols_find(object, MPIQ_SYMBOL_GLOBAL, "code", &address));
    mpiq_object_lock();
    const struct mpiq_source_place *places = mpiq_lines_at(object, address + 4, &count);
    int line = count > 0 ? places[0].line : 0;
    mpiq_object_unlock();
    mpiq_object_clear();
    return line;
}

/* libdwarf 20210528 would write beyond what it has taken, or take memory without an end. */
static void a_line_table_of_more_names_than_it_has_is_left_out(void)
{
    static const char directories[] = ".byte 1, 1, 8, 1\n.asciz \"d\"";
    static const char files[] = ".byte 2, 1, 8, 2, 0x0b, 1\n.asciz \"f.c\"\n.byte 0";
    static const char *const lists[][2] = {
        {".byte 1, 1, 8\n.uleb128 0x2000000000000001\n.rept 40\n.asciz \"d\"\n.endr", files},
        {".byte 1, 1, 8\n.uleb128 0xffffff6\n.asciz \"d\"", files},
        {".byte 0\n.uleb128 0x1fffffff", files},
        {".byte 1, 1, 8, 1\n.rept 60\n.byte 100\n.endr", ".rept 60\n.byte 100\n.endr"},
        {directories, ".byte 0\n.uleb128 0x1ffffffff"},
    };
    CU_ASSERT_EQUAL(line_of_code(compile_line_table("lines", directories, files)), 7);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char name[16];
        snprintf(name, sizeof name, "lines%zu", i);
        CU_ASSERT_EQUAL(line_of_code(compile_line_table(name, lists[i][0], lists[i][1])), 0);
    }
}

/* Bytes after decompression: of one file too many is as good as absent, of all files too many is missed. */
static void all_files_together_have_a_budget(void)
{
    static const char type[] = "struct subject_record";
    const char *program = compile("first", "gcc -g -gz=zlib");
    run("cd %s && rm -rf second && mkdir second && cp first/program second/program", scratch());
    char second[300];
    snprintf(second, sizeof second, "%s/second/program", scratch());
    mpiq_debug_sections_limit(UINT64_C(1) << 30, UINT64_C(1) << 30);
    CU_ASSERT_PTR_NOT_NULL(mpiq_types_find(open_object(program), type));
    struct mpiq_debug_info *info = open_object(program)->debug_info;
    CU_ASSERT_PTR_NOT_NULL_FATAL(info);
    uint64_t one = info->sections.used;
    CU_ASSERT(one > 1000);
    mpiq_object_clear();

    unsigned missed = mpiq_memory_missed();
    mpiq_debug_sections_limit(16, UINT64_C(1) << 30);
    CU_ASSERT_PTR_NULL(mpiq_types_find(open_object(program), type));
    CU_ASSERT_EQUAL(mpiq_memory_missed(), missed);
    mpiq_object_clear();

    mpiq_debug_sections_limit(UINT64_C(1) << 30, one + one / 2);
    CU_ASSERT_PTR_NOT_NULL(mpiq_types_find(open_object(program), type));
    CU_ASSERT_EQUAL(mpiq_memory_missed(), missed);
    CU_ASSERT_PTR_NULL(mpiq_types_find(open_object(second), type));
    CU_ASSERT(mpiq_memory_missed() > missed);
    mpiq_object_clear(); /* what was taken is given back */
    missed = mpiq_memory_missed();
    CU_ASSERT_PTR_NOT_NULL(mpiq_types_find(open_object(second), type));
    CU_ASSERT_EQUAL(mpiq_memory_missed(), missed);
    mpiq_object_clear();
    mpiq_debug_sections_limit(UINT64_C(2) << 30, UINT64_C(4) << 30);
}

/* Where the debug information of an object lies hangs on how it was opened: one process's way to a file is
   not taken for another's, and what a process says in its memory is its own. */
static void no_process_chooses_what_another_shares(void)
{
    const char *program = compile("shared", "gcc -g");
    char linked[300];
    run("cd %s/shared && mkdir other && ln program other/program", scratch());
    snprintf(linked, sizeof linked, "%s/shared/other/program", scratch());
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int same = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int elsewhere = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct mpiq_object *ours = open_object(program), *other = open_object(linked);
    struct mpiq_object *beneath = NULL, *again = NULL;
    CU_ASSERT_PTR_EQUAL(ours, open_object(program));
    CU_ASSERT_PTR_NOT_EQUAL(ours, other);
    CHECK_OK(mpiq_object_open_in(root, program, program, &beneath));
    CHECK_OK(mpiq_object_open_in(same, program, program, &again));
    CU_ASSERT_PTR_NOT_EQUAL(ours, beneath);
    CU_ASSERT_PTR_EQUAL(beneath, again);
    CU_ASSERT_PTR_EQUAL(mpiq_object_mapped(-1, ours->device, ours->inode, program), ours);
    CU_ASSERT_PTR_EQUAL(mpiq_object_mapped(root, ours->device, ours->inode, program), beneath);
    CU_ASSERT_PTR_NULL(mpiq_object_mapped(elsewhere, ours->device, ours->inode, program));
    close(root);
    close(same);
    close(elsewhere);

    /* The same build-id, and one byte that differs. */
    struct mpiq_object *images[3];
    for (int i = 0; i < 3; i++) {
        size_t size = (size_t)ours->size;
        char *image = malloc(size);
        CU_ASSERT_EQUAL(mpiq_object_bytes(ours, 0, size, image), size);
        image[size - 1] ^= (char)(i == 2);
        CHECK_OK(mpiq_object_from_image(image, size, "[vdso]", &images[i]));
    }
    CU_ASSERT(mpiq_build_id_equal(&images[0]->build_id, &images[2]->build_id));
    CU_ASSERT_PTR_EQUAL(images[0], images[1]);
    CU_ASSERT_PTR_NOT_EQUAL(images[0], images[2]);
    mpiq_object_clear();
}

/* In a process of its own: a signal would end it. */
static void a_file_that_shrinks_is_no_signal(void)
{
    const char *program = compile("shrunk", "gcc -g");
    pid_t reader = fork();
    if (reader == 0) {
        struct mpiq_object *object = NULL;
        size_t count = 0;
        mpiq_error_destroy(mpiq_object_open(program, program, &object));
        if (!object || truncate(program, 5000) != 0)
            _exit(3);
        mpiq_types_find(object, "struct subject_record");
        mpiq_object_lock();
        mpiq_lines_at(object, 0x1200, &count);
        mpiq_object_unlock();
        char buffer[64];
        _exit(mpiq_object_bytes(object, 12000, sizeof buffer, buffer) == 0 ? 0 : 4);
    }
    int status = -1;
    waitpid(reader, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
}

static void links_lead_out_of_no_root(void)
{
    char path[300];
    struct stat file;
    run("rm -rf %s/root && mkdir -p %s/root/usr && cd %s/root && echo inside >usr/file && ln -s /etc/passwd "
        "out && "
        "ln -s ../../../../../../etc/passwd up && ln -s /usr/file in && mkfifo fifo && "
        "ln -s circle circle && ln -s ../usr/../in usr/through && ln -s usr/file/ slash",
        scratch(), scratch(), scratch());
    snprintf(path, sizeof path, "%s/root", scratch());
    int root = open(path, O_PATH | O_DIRECTORY);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/out", &file) < 0);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/up", &file) < 0);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/fifo", &file) < 0);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/usr", &file) < 0);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/circle", &file) < 0);
    CU_ASSERT_EQUAL(errno, ELOOP);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/usr/file/..", &file) < 0);
    CU_ASSERT_EQUAL(errno, ENOTDIR);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/usr/../usr/..", &file) < 0);
    CU_ASSERT_EQUAL(errno, EINVAL);
    CU_ASSERT_TRUE(mpiq_file_open(root, "/none", &file) < 0);
    CU_ASSERT_EQUAL(errno, ENOENT);
    static const char *const names[] = {"/in", "usr/file", "/../../usr/./file", "//usr//through"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int fd = mpiq_file_open(root, names[i], &file);
        CU_ASSERT_TRUE(fd >= 0);
        CU_ASSERT_EQUAL(file.st_size, 7);
        close(fd);
    }
    CU_ASSERT_TRUE(mpiq_file_open(root, "/slash", &file) < 0);
    close(root);
    CU_ASSERT_TRUE(mpiq_file_open(-1, "/dev/tty", &file) < 0);
}

static void a_core_opens_files_of_object_directories_alone(void)
{
    setenv("MPIQ_OBJECT_DIRS", "/home/me:/scratch/", 1);
    CU_ASSERT_TRUE(mpiq_object_dirs_hold("/usr/lib/libmpi.so", NULL));
    CU_ASSERT_TRUE(mpiq_object_dirs_hold("/home/me/a.out", NULL));
    CU_ASSERT_TRUE(mpiq_object_dirs_hold("/scratch/a.out", NULL));
    CU_ASSERT_FALSE(mpiq_object_dirs_hold("/home/menace/a.out", NULL));
    CU_ASSERT_FALSE(mpiq_object_dirs_hold("/home/me/../you/a.out", NULL));
    CU_ASSERT_FALSE(mpiq_object_dirs_hold("/dev/shm/a.out", NULL));
    CU_ASSERT_FALSE(mpiq_object_dirs_hold("usr/lib/libmpi.so", NULL));
    CU_ASSERT_TRUE(mpiq_object_dirs_hold("/etc/a.out", "/etc/passwd"));
    setenv("MPIQ_OBJECT_DIRS", "/", 1);
    CU_ASSERT_FALSE(mpiq_object_dirs_hold("/dev/shm/a.out", NULL));
    unsetenv("MPIQ_OBJECT_DIRS");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    sources = argv[2];
    CU_TestInfo tests[] = {
        {"a FIFO as debug file does not hang", a_fifo_as_debug_file_does_not_hang},
        {"a FIFO, or itself, as common file does not hang", a_fifo_or_itself_as_common_file_does_not_hang},
        {"a FIFO as split file does not hang", a_fifo_as_split_file_does_not_hang},
        {"a section that decompresses to more than there is is left out",
         a_section_that_decompresses_to_more_than_there_is_is_left_out},
        {"a sibling that points back does not hang", a_sibling_that_points_back_does_not_hang},
        {"a line table of more names than it has is left out",
         a_line_table_of_more_names_than_it_has_is_left_out},
        {"all files together have a budget", all_files_together_have_a_budget},
        {"no process can choose what another shares", no_process_chooses_what_another_shares},
        {"a file that shrinks raises no signal", a_file_that_shrinks_is_no_signal},
        {"links cannot lead out of the root", links_lead_out_of_no_root},
        {"a core opens files only in object directories", a_core_opens_files_of_object_directories_alone},
        CU_TEST_INFO_NULL,
    };
    int status = suite_run("hostile files", tests);
    mpiq_object_clear();
    run("rm -rf %s", scratch());
    return status;
}
