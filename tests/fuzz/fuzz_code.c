/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_code - the machine code around a call, as an enemy would write it: what a call was given is computed
 * from it.
 *
 * The first byte says how many functions the code is divided into, less one, and, by its highest bit, that it
 * is of 64-bit Arm; then two bytes for each say where it begins, two for each of two call sites where the
 * call returns to, two where the called function is now, and the rest is code.  Registers point into the
 * code, too.  Any answer will do, but the words that it was not asked for are not known; no crash, no leak,
 * no overrun, no loop.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "call_words.h"
#include "limit.h"
#include "madeup.h"
#include "process/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x400000, CODE = BASE + 0x1000, CODE_MOST = 0x4000, FUNCTIONS_MOST = 16 };

/* A file that says of itself no more than where .eh_frame_hdr is. */
struct program {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
    uint32_t encodings, frames, count;
    int32_t table[2 * FUNCTIONS_MOST];
};

static void make_program(struct program *program, unsigned machine, const uint16_t *starts, uint32_t count)
{
    const uint64_t table = offsetof(struct program, encodings);
    *program = (struct program){
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = (uint16_t)machine,
                   .e_version = EV_CURRENT,
                   .e_phoff = offsetof(struct program, segments),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 2},
        .segments = {{.p_type = PT_LOAD,
                      .p_flags = PF_R | PF_X,
                      .p_vaddr = BASE,
                      .p_filesz = sizeof *program,
                      .p_memsz = sizeof *program},
                     {.p_type = PT_GNU_EH_FRAME,
                      .p_offset = table,
                      .p_vaddr = BASE + table,
                      .p_memsz = sizeof *program - table}},
        .encodings = 0x3b031b01,
        .count = count};
    for (uint32_t i = 0; i < count; i++)
        program->table[2 * (size_t)i] = (int32_t)(CODE + starts[i] - (BASE + table));
}

static int compare(const void *left, const void *right)
{
    return *(const uint16_t *)left - *(const uint16_t *)right;
}

static void try_code(const uint8_t *data, size_t size)
{
    uint16_t starts[FUNCTIONS_MOST], sites[2];
    uint32_t count = data[0] % FUNCTIONS_MOST + 1;
    const unsigned machine = call_machine(data[0]);
    data++;
    size--;
    for (uint32_t i = 0; i < count; i++)
        starts[i] = take_number(&data, &size) % CODE_MOST;
    qsort(starts, count, sizeof *starts, compare);
    sites[0] = take_number(&data, &size) % CODE_MOST;
    sites[1] = take_number(&data, &size) % CODE_MOST;
    uint16_t callee = take_number(&data, &size) % CODE_MOST;

    struct program program;
    make_program(&program, machine, starts, count);
    const struct mpiq_madeup_segment segments[] = {
        {BASE, sizeof program, &program}, {CODE, size < CODE_MOST ? size : CODE_MOST, data}, {0}};
    const struct mpiq_madeup what = {.segments = segments};
    struct mpiq_target *target = NULL;
    struct program *image = malloc(sizeof *image);
    struct mpiq_module module = {.start = BASE, .end = CODE + CODE_MOST, .main = true};
    struct mpiq_module *by_address[] = {&module};
    struct mpiq_error *error = image ? mpiq_target_madeup_create(&what, &target) : NULL;
    if (!image || error)
        abort();
    *image = program;
    error = mpiq_object_from_image(image, sizeof *image, "/input", &module.object);
    if (error)
        abort();
    struct mpiq_modules modules = {.target = target,
                                   .items = &module,
                                   .count = 1,
                                   .by_address = by_address,
                                   .word_size = 8,
                                   .machine = machine};
    ask_words(&modules, CODE, call_known(machine) | 0x30, 2, sites, callee);
    ask_history(&modules, CODE, call_known(machine) | 0x30, 2, sites);
    mpiq_target_destroy(target);
    mpiq_object_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    limit_begin();
    if (size)
        try_code(data, size);
    limit_end();
    return 0;
}
