/* SPDX-License-Identifier: BSD-3-Clause */
/* Made-up processes, and on them the dynamic linker's list and build-ids of machines that are not at hand. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "madeup.h"
#include "suite.h"
#include "support.h"
#include "process/build_id.h"
#include "process/link_map.h"

static const struct mpiq_target_sizes *const machines[] = {&mpiq_madeup_64_little, &mpiq_madeup_64_big,
                                                           &mpiq_madeup_32_little, &mpiq_madeup_32_big};

static void one_call_makes_a_process(void)
{
    static const char low[] = "abcd", high[] = "efgh";
    static const struct mpiq_madeup_segment segments[] = {{0x1000, 4, low}, {0x1004, 4, high}, {0}};
    static const struct mpiq_madeup_symbol symbols[] = {{"start", 0x1000}, {0}};
    static const struct mpiq_madeup_member inner[] = {{"x", 4, NULL}, {0}},
                                           outer[] = {{"in", 8, "inner"}, {0}};
    static const struct mpiq_madeup_type types[] = {{"inner", 12, inner}, {"outer", 24, outer}, {0}};
    static const struct mpiq_target_frame frames[] = {
        {.pc = 1, .function = (char *)"f", .line = 3}, {.pc = 2}, {0}};
    static const struct mpiq_madeup_thread threads[] = {{7, 'S', 5, "main", frames}, {0}};
    static const char *const environment[] = {"A=1", "AB=2", NULL};
    struct mpiq_madeup what = {.segments = segments,
                               .symbols = symbols,
                               .types = types,
                               .threads = threads,
                               .environment = environment,
                               .status = {.pid = 7, .state = 'S'}};
    struct mpiq_target *target = NULL;
    CHECK_OK(mpiq_target_madeup_create(&what, &target));

    char bytes[9] = "";
    uint64_t number = 0;
    CHECK_OK(mpiq_target_read(target, 0x1000, 8, bytes));
    CU_ASSERT_STRING_EQUAL(bytes, "abcdefgh");
    struct mpiq_error *error = mpiq_target_read(target, 0x1002, 8, bytes);
    CU_ASSERT(error && error->code == MPIQ_ERROR_SHORT && error->address == 0x1008);
    mpiq_error_destroy(error);
    CHECK_ERROR(mpiq_target_read(target, 0xfff, 2, bytes), MPIQ_ERROR_UNMAPPED, "0xfff");
    CHECK_OK(mpiq_target_find_symbol(target, "start", &number));
    CU_ASSERT_EQUAL(number, 0x1000);
    CHECK_ERROR(mpiq_target_find_symbol(target, "end", &number), MPIQ_ERROR_NOT_FOUND, "end");

    const struct mpiq_target_type *type = NULL;
    CHECK_OK(mpiq_target_find_type(target, "struct outer", &type));
    CHECK_OK(mpiq_target_field_offset(target, type, "in.x", &number));
    CU_ASSERT_EQUAL(number, 12);
    CHECK_OK(mpiq_target_type_size(target, type, &number));
    CU_ASSERT_EQUAL(number, 24);
    CHECK_ERROR(mpiq_target_field_offset(target, type, "in.y", &number), MPIQ_ERROR_NOT_FOUND,
                "in.y in outer");
    CHECK_ERROR(mpiq_target_find_type(target, "other", &type), MPIQ_ERROR_NOT_FOUND, "other");

    struct mpiq_target_thread *list = NULL;
    size_t count = 0;
    CHECK_OK(mpiq_target_threads(target, &list, &count));
    CU_ASSERT(count == 1 && list[0].tid == 7 && strcmp(list[0].name, "main") == 0);
    free(list);
    struct mpiq_target_stack stack = {0};
    CHECK_OK(mpiq_target_stack(target, 7, &stack));
    CU_ASSERT(stack.count == 2 && strcmp(stack.frames[0].function, "f") == 0);
    mpiq_target_stack_deinit(&stack);
    CHECK_ERROR(mpiq_target_stack(target, 8, &stack), MPIQ_ERROR_NOT_FOUND, "8");
    _cleanup_free_ char *value = NULL;
    CHECK_OK(mpiq_target_environment(target, "AB", &value));
    CU_ASSERT_STRING_EQUAL(value, "2");
    mpiq_target_forget(target);
    mpiq_target_destroy(target);
    mpiq_target_destroy(NULL);
}

static void slots_that_are_missing_say_so(void)
{
    static const struct mpiq_target_ops none = {.kind = "poor"};
    struct mpiq_target target = {.ops = &none};
    struct mpiq_target_thread *threads;
    struct mpiq_target_stack stack;
    size_t count;
    char *value;
    CHECK_ERROR(mpiq_target_threads(&target, &threads, &count), MPIQ_ERROR_UNSUPPORTED,
                "a poor target has no threads");
    CHECK_ERROR(mpiq_target_stack(&target, 1, &stack), MPIQ_ERROR_UNSUPPORTED, "no stacks");
    CHECK_ERROR(mpiq_target_environment(&target, "A", &value), MPIQ_ERROR_UNSUPPORTED, "no environment");
    mpiq_target_forget(&target);
}

/* An executable's headers, dynamic section and list of two objects, in one segment at BASE. */
#define BASE UINT64_C(0x10000)

struct picture {
    unsigned char bytes[0x1000];
    struct mpiq_madeup_segment segments[2];
    struct mpiq_words words;
    const struct mpiq_target_sizes *sizes;
    struct mpiq_target *target;
};

static void put(struct picture *picture, size_t at, uint64_t value)
{
    mpiq_madeup_put(picture->sizes, picture->bytes + at, picture->words.size, value);
}

static void draw(struct picture *picture, const struct mpiq_target_sizes *sizes)
{
    *picture = (struct picture){.sizes = sizes};
    picture->words = (struct mpiq_words){.size = sizes->pointer_size, .big_endian = sizes->big_endian};
    size_t word = (size_t)sizes->pointer_size;
    bool wide = word == 8;
    size_t size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    size_t address = wide ? offsetof(Elf64_Phdr, p_vaddr) : offsetof(Elf32_Phdr, p_vaddr);
    /* Program headers at 0x40: themselves, and the dynamic section at 0x200. */
    mpiq_madeup_put(sizes, picture->bytes + 0x40, 4, PT_PHDR);
    put(picture, 0x40 + address, 0x40);
    mpiq_madeup_put(sizes, picture->bytes + 0x40 + size, 4, PT_DYNAMIC);
    put(picture, 0x40 + size + address, 0x200);
    put(picture, 0x200, DT_NEEDED);
    put(picture, 0x200 + 2 * word, DT_DEBUG);
    put(picture, 0x200 + 3 * word, BASE + 0x300);
    put(picture, 0x300 + word, BASE + 0x400); /* r_debug: the head */
    put(picture, 0x400, 0x10000);             /* l_addr, l_name, l_ld, l_next */
    put(picture, 0x400 + 2 * word, BASE + 0x200);
    put(picture, 0x400 + 3 * word, BASE + 0x500);
    put(picture, 0x500, 0x7000);
    put(picture, 0x500 + 2 * word, 0x7200);
    picture->segments[0] = (struct mpiq_madeup_segment){BASE, sizeof picture->bytes, picture->bytes};
    struct mpiq_madeup what = {.sizes = *sizes, .segments = picture->segments};
    CHECK_OK(mpiq_target_madeup_create(&what, &picture->target));
}

static void the_linkers_list_is_read_on_every_machine(void)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct picture picture;
        draw(&picture, machines[i]);
        struct mpiq_link *links = NULL;
        size_t count = 0;
        CHECK_OK(mpiq_link_map_read(picture.target, &picture.words, BASE + 0x40, 2, &links, &count));
        CU_ASSERT_EQUAL_FATAL(count, 2);
        CU_ASSERT_EQUAL(links[0].bias, 0x10000);
        CU_ASSERT_EQUAL(links[0].dynamic, BASE + 0x200);
        CU_ASSERT_EQUAL(links[1].bias, 0x7000);
        CU_ASSERT_EQUAL(links[1].dynamic, 0x7200);
        free(links);
        mpiq_target_destroy(picture.target);
    }
}

static void a_damaged_list_is_an_error(void)
{
    struct picture picture;
    struct mpiq_link *links = NULL;
    size_t count = 0;
    draw(&picture, &mpiq_madeup_64_little);
    put(&picture, 0x500 + 24, BASE + 0x400); /* a ring */
    CHECK_ERROR(mpiq_link_map_read(picture.target, &picture.words, BASE + 0x40, 2, &links, &count),
                MPIQ_ERROR_CORRUPT, "does not end");
    put(&picture, 0x500 + 24, 0x1234);
    CHECK_ERROR(mpiq_link_map_read(picture.target, &picture.words, BASE + 0x40, 2, &links, &count),
                MPIQ_ERROR_UNMAPPED, "0x1234");
    put(&picture, 0x200 + 24, 0); /* before the linker ran */
    CHECK_ERROR(mpiq_link_map_read(picture.target, &picture.words, BASE + 0x40, 2, &links, &count),
                MPIQ_ERROR_NOT_FOUND, "has not made its list");
    CHECK_ERROR(mpiq_link_map_read(picture.target, &picture.words, BASE + 0x40, 1, &links, &count),
                MPIQ_ERROR_NOT_FOUND, "statically linked");
    CU_ASSERT_PTR_NULL(links);
    mpiq_target_destroy(picture.target);
}

static void build_ids_are_found_and_checked(void)
{
    unsigned char notes[64] = {0};
    struct mpiq_build_id found = {.size = 0}, other = {.bytes = {1}, .size = 1};
    char text[2 * MPIQ_BUILD_ID_MAX + 1];
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        const struct mpiq_target_sizes *sizes = machines[big_endian];
        memset(notes, 0, sizeof notes);
        /* Another note first, whose name and contents are padded. */
        mpiq_madeup_put(sizes, notes, 4, 5);
        mpiq_madeup_put(sizes, notes + 4, 4, 1);
        mpiq_madeup_put(sizes, notes + 24, 4, 4);
        mpiq_madeup_put(sizes, notes + 28, 4, 3);
        mpiq_madeup_put(sizes, notes + 32, 4, NT_GNU_BUILD_ID);
        memcpy(notes + 36, "GNU\0\xab\xcd\x0f", 7);
        CU_ASSERT_TRUE_FATAL(mpiq_build_id_in_notes(notes, 44, big_endian, &found));
        mpiq_build_id_text(&found, text);
        CU_ASSERT_STRING_EQUAL(text, "abcd0f");
        CU_ASSERT_FALSE(mpiq_build_id_equal(&found, &other));
        /* Cut off anywhere, it is not there; and nothing is read behind the end (asan). */
        for (size_t size = 0; size < 43; size++) {
            void *exact = malloc(size ? size : 1);
            memcpy(exact, notes, size);
            CU_ASSERT_FALSE(mpiq_build_id_in_notes(exact, size, big_endian, &other));
            free(exact);
        }
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        {"one call makes a process", one_call_makes_a_process},
        {"missing callbacks are reported", slots_that_are_missing_say_so},
        {"the linker's list is read for every word size and byte order",
         the_linkers_list_is_read_on_every_machine},
        {"a damaged list is an error", a_damaged_list_is_an_error},
        {"build-ids are found and checked", build_ids_are_found_and_checked},
        CU_TEST_INFO_NULL,
    };
    return suite_run("made-up targets", tests);
}
