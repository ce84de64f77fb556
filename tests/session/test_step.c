/* SPDX-License-Identifier: BSD-3-Clause */
/* The step mode's side of mpiq run: breakpoints as they are typed, a rank's memory, orders; whatever it
 * holds. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/step_breaks.h"
#include "session/step_memory.h"
#include "suite.h"

/* ---- breakpoints -----------------------------------------------------------------------------------------
 */

static void test_breakpoints(void)
{
    static const struct {
        const char *text, *call, *comm, *ranks, *file;
        unsigned line;
    } rows[] = {
        {"MPI_Bcast", "MPI_Bcast", "", "", "", 0},
        {"mpi_send,rank=0,2-3", "mpi_send", "", "0,2-3", "", 0},
        {"rank=1,comm=rows", "", "rows", "1", "", 0},
        {"src/ring.c:20", "", "", "", "ring.c", 20},
        {"ring.c:20,MPI_Recv", "MPI_Recv", "", "", "ring.c", 20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mpiq_step_break one;
        CU_ASSERT_PTR_NULL_FATAL(mpiq_step_break_parse(rows[i].text, &one));
        char *ranks = mpiq_rank_set_text(&one.ranks, 0);
        CU_ASSERT_STRING_EQUAL(one.record.call, rows[i].call);
        CU_ASSERT_STRING_EQUAL(one.record.comm, rows[i].comm);
        CU_ASSERT_STRING_EQUAL(ranks, rows[i].ranks);
        CU_ASSERT_STRING_EQUAL(one.file, rows[i].file);
        CU_ASSERT_EQUAL(one.line, rows[i].line);
        CU_ASSERT_EQUAL(one.record.by_line, rows[i].line > 0);
        free(ranks);
        mpiq_step_break_deinit(&one);
    }
}

static void test_no_breakpoints(void)
{
    static const char *const texts[] = {
        "",      "x",      "MPI_",  "MPI_Send Recv", "ring.c:",   "ring.c:0", ":20",     "ring.c:2x",
        "rank=", "rank=x", "comm=", "MPI_Send,",     "ring.c:-1", "dir/:7",   "MPI_%s%n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mpiq_step_break one;
        struct mpiq_error *error = mpiq_step_break_parse(texts[i], &one);
        CU_ASSERT_PTR_NOT_NULL(error);
        CU_ASSERT(error && error->code == MPIQ_ERROR_USAGE);
        if (!error)
            fprintf(stderr, "'%s' is taken for a breakpoint\n", texts[i]);
        mpiq_error_destroy(error);
    }
}

static void test_lines(void)
{
    struct mpiq_step_break one;
    CU_ASSERT_PTR_NULL_FATAL(mpiq_step_break_parse("ring.c:20", &one));
    CU_ASSERT_TRUE(mpiq_step_break_is_at(&one, "/home/a/ring.c", 20));
    CU_ASSERT_TRUE(mpiq_step_break_is_at(&one, "ring.c", 20));
    CU_ASSERT_FALSE(mpiq_step_break_is_at(&one, "string.c", 20));
    CU_ASSERT_FALSE(mpiq_step_break_is_at(&one, "ring.c", 21));
    CU_ASSERT_FALSE(mpiq_step_break_is_at(&one, NULL, 20));
    mpiq_step_break_deinit(&one);
}

/* ---- a rank's memory -------------------------------------------------------------------------------------
 */

enum { ARENA = 1 << 16, STEP = 1024, FUNCTIONS = 16384, HOLDS = 32768, THREADS = 40960 };

/* What a recorder has in a memory file, as the test sees it. */
struct made {
    int file;
    unsigned char *bytes; /* of the arena */
    struct mpiq_record_root *root;
    struct mpiq_record_step *step;
    struct mpiq_record_function *functions;
    struct mpiq_record_hold *hold;
    struct mpiq_record_thread *thread;
    struct mpiq_step_memory memory;
};

static void begin(struct made *made)
{
    made->file = memfd_create("test", MFD_CLOEXEC);
    CU_ASSERT_EQUAL_FATAL(ftruncate(made->file, MPIQ_RECORD_FILE_ARENA + ARENA), 0);
    unsigned char *all =
        mmap(NULL, MPIQ_RECORD_FILE_ARENA + ARENA, PROT_READ | PROT_WRITE, MAP_SHARED, made->file, 0);
    CU_ASSERT_FATAL(all != MAP_FAILED);
    made->root = (void *)(all + MPIQ_RECORD_FILE_ROOT);
    made->bytes = all + MPIQ_RECORD_FILE_ARENA;
    made->step = (void *)(made->bytes + STEP);
    made->functions = (void *)(made->bytes + FUNCTIONS);
    made->hold = (void *)(made->bytes + HOLDS);
    made->thread = (void *)(made->bytes + THREADS);
    *made->root = (struct mpiq_record_root){.byte_order = MPIQ_RECORD_BYTE_ORDER,
                                            .version_major = MPIQ_RECORD_VERSION_MAJOR,
                                            .version_minor = MPIQ_RECORD_VERSION_MINOR,
                                            .size = sizeof *made->root,
                                            .pointer_size = 8,
                                            .world_size = 2,
                                            .arena_used = ARENA,
                                            .functions = FUNCTIONS,
                                            .function_count = 1,
                                            .threads = THREADS,
                                            .step = STEP};
    memcpy(made->root->magic, MPIQ_RECORD_MAGIC, sizeof made->root->magic);
    strcpy(made->functions[0].name, "MPI_Send");
    made->step->holds = HOLDS;
    *made->hold = (struct mpiq_record_hold){.tid = 7, .state = MPIQ_RECORD_HOLD_HELD, .number = 3};
    *made->thread = (struct mpiq_record_thread){.tid = 7, .calls = 1};
    made->thread->history[0].end = 1;
    CU_ASSERT_TRUE_FATAL(mpiq_step_memory_open(made->file, &made->memory));
}

static void end(struct made *made)
{
    munmap(made->bytes - MPIQ_RECORD_FILE_ARENA, MPIQ_RECORD_FILE_ARENA + ARENA);
    close(made->file);
}

static void test_orders(void)
{
    struct made made;
    struct mpiq_step_thread threads[4];
    begin(&made);
    CU_ASSERT_EQUAL_FATAL(mpiq_step_memory_threads(&made.memory, threads, 4), 1);
    CU_ASSERT_STRING_EQUAL(threads[0].call, "MPI_Send");
    CU_ASSERT_TRUE(threads[0].held && !threads[0].inside && !threads[0].asks);
    mpiq_step_memory_go(&made.memory, &threads[0], false);
    CU_ASSERT_EQUAL(made.hold->go, 3);
    CU_ASSERT_EQUAL(made.hold->skip, 0);
    /* It has its order, and has not gone yet. */
    mpiq_step_memory_threads(&made.memory, threads, 4);
    CU_ASSERT_FALSE(threads[0].held);
    mpiq_step_memory_go(&made.memory, &threads[0], true);
    CU_ASSERT_EQUAL(made.hold->skip, 3);
    mpiq_step_memory_answer(&made.memory, &threads[0], 9);
    CU_ASSERT(made.hold->told == 3 && made.hold->breaks == 9);
    made.hold->state = MPIQ_RECORD_HOLD_WENT;
    made.thread->history[0].end = 0;
    mpiq_step_memory_threads(&made.memory, threads, 4);
    CU_ASSERT_TRUE(threads[0].inside && !threads[0].held);
    mpiq_step_memory_mode(&made.memory, MPIQ_RECORD_STEP_NEVER);
    CU_ASSERT_EQUAL(made.step->mode, MPIQ_RECORD_STEP_NEVER);
    end(&made);
}

static void test_sites(void)
{
    struct made made;
    struct mpiq_record_site site;
    struct mpiq_record_break one = {.call = "MPI_Recv", .comm = "rows", .by_line = 1};
    begin(&made);
    made.step->site_count = 2;
    made.step->sites[0].caller = 0x1234;
    made.step->sites[1].caller = 0x5678;
    CU_ASSERT_TRUE(mpiq_step_memory_site(&made.memory, 1, &site));
    CU_ASSERT_EQUAL(site.caller, 0x5678);
    CU_ASSERT_FALSE(mpiq_step_memory_site(&made.memory, 2, &site));
    mpiq_step_memory_know(&made.memory, 1, 5);
    CU_ASSERT(made.step->sites[1].known == 1 && made.step->sites[1].breaks == 5);
    CU_ASSERT_EQUAL(made.step->sites[0].known, 0);
    /* A new breakpoint: what was known of sites is not known of it. */
    mpiq_step_memory_break(&made.memory, 3, &one);
    CU_ASSERT_STRING_EQUAL(made.step->breaks[3].call, "MPI_Recv");
    CU_ASSERT_STRING_EQUAL(made.step->breaks[3].comm, "rows");
    CU_ASSERT(made.step->breaks[3].used == 1 && made.step->breaks[3].by_line == 1);
    CU_ASSERT_EQUAL(made.step->sites[1].known, 0);
    mpiq_step_memory_break(&made.memory, 3, NULL);
    CU_ASSERT_EQUAL(made.step->breaks[3].used, 0);
    made.step->site_count = UINT32_MAX;
    CU_ASSERT_FALSE(mpiq_step_memory_site(&made.memory, MPIQ_RECORD_MAX_SITES, &site));
    end(&made);
}

/* Lists that go round or lead nowhere, strings without an end, counts beyond all arrays, a file cut short. */
static void test_nonsense(void)
{
    struct made made;
    static struct mpiq_step_thread threads[64];
    char path[64];
    uint64_t offset, ordered;
    begin(&made);
    made.hold->next = HOLDS;
    made.hold->peer_count = made.hold->data_size = UINT32_MAX;
    made.hold->function = 999;
    memset(made.hold->comm_name, 'x', sizeof made.hold->comm_name);
    memset(made.hold->type, 'x', sizeof made.hold->type);
    memset(made.hold->op, 'x', sizeof made.hold->op);
    made.thread->tid = 8; /* the thread's record is not there */
    made.thread->next = THREADS;
    made.hold->state = MPIQ_RECORD_HOLD_WENT;
    CU_ASSERT_EQUAL(mpiq_step_memory_threads(&made.memory, threads, 64), 64);
    CU_ASSERT_EQUAL(threads[0].call[0], '\0');
    CU_ASSERT_FALSE(threads[0].inside);
    CU_ASSERT_EQUAL(threads[0].hold.peer_count, MPIQ_RECORD_HOLD_PEERS);
    CU_ASSERT_EQUAL(threads[0].hold.data_size, MPIQ_RECORD_HOLD_DATA);
    CU_ASSERT_EQUAL(strlen(threads[0].hold.comm_name), sizeof made.hold->comm_name - 1);
    CU_ASSERT_EQUAL(strlen(threads[0].hold.type), sizeof made.hold->type - 1);
    made.hold->next = ARENA - 8;
    CU_ASSERT_EQUAL(mpiq_step_memory_threads(&made.memory, threads, 64), 1);
    made.step->holds = ARENA - 64;
    CU_ASSERT_EQUAL(mpiq_step_memory_threads(&made.memory, threads, 64), 0);
    /* An order goes where the list led, or nowhere. */
    threads[0].at = ARENA - 8;
    mpiq_step_memory_go(&made.memory, &threads[0], true);
    made.memory.root.step = ARENA - 8;
    mpiq_step_memory_mode(&made.memory, MPIQ_RECORD_STEP_NEVER);
    made.memory.root.step = 3;
    CU_ASSERT_EQUAL(mpiq_step_memory_threads(&made.memory, threads, 64), 0);
    made.memory.root.comms = THREADS;
    CU_ASSERT_FALSE(mpiq_step_memory_ordered(&made.memory, (uint64_t[]){9, 9}, &ordered));
    made.memory.root.loaded = ARENA - 16;
    made.memory.root.loaded_count = 5;
    CU_ASSERT_FALSE(mpiq_step_memory_place(&made.memory, 0x400000, path, sizeof path, &offset));
    end(&made);
    begin(&made);
    CU_ASSERT_EQUAL(ftruncate(made.file, MPIQ_RECORD_FILE_ARENA), 0);
    CU_ASSERT_EQUAL(mpiq_step_memory_threads(&made.memory, threads, 64), 0);
    CU_ASSERT_FALSE(mpiq_step_memory_open(made.file, &made.memory));
    CU_ASSERT_FALSE(mpiq_step_memory_open(-1, &made.memory));
    end(&made);
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"breakpoints", test_breakpoints},
        {"no breakpoints", test_no_breakpoints},
        {"lines", test_lines},
        {"orders", test_orders},
        {"sites", test_sites},
        {"nonsense", test_nonsense},
        CU_TEST_INFO_NULL,
    };
    return suite_run("step", tests);
}
