/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/function_bounds.h"

#include <elf.h>

#include "process/symbols.h"

/* Bytes of one function; encodings of .eh_frame_hdr that every linker writes. */
enum { FUNCTION_MOST = 1 << 18, ENCODED_UDATA4 = 0x03, ENCODED_DATAREL_SDATA4 = 0x3b };

uint64_t mpiq_code_number(struct mpiq_modules *modules, uint64_t address, int size, bool *good)
{
    unsigned char bytes[8];
    struct mpiq_error *error = mpiq_target_read(modules->target, address, (size_t)size, bytes);
    *good = *good && !error;
    mpiq_error_destroy(error);
    const struct mpiq_words words = {.size = modules->word_size, .big_endian = modules->big_endian};
    return error ? 0 : mpiq_word_sized(&words, bytes, size);
}

static int64_t offset_at(struct mpiq_modules *modules, uint64_t address, bool *good)
{
    return (int32_t)mpiq_code_number(modules, address, 4, good);
}

static bool find_frames(const struct mpiq_object *object, GElf_Phdr *ret)
{
    size_t count = 0;
    bool found = false;
    mpiq_object_lock();
    if (elf_getphdrnum(object->elf, &count) == 0) {
        for (size_t i = 0; i < count && !found; i++)
            found = gelf_getphdr(object->elf, (int)i, ret) && ret->p_type == PT_GNU_EH_FRAME;
    }
    mpiq_object_unlock();
    return found;
}

/* Where the section of code ends that holds an address of the object's own; 0: it does not say. */
static uint64_t find_code_end(const struct mpiq_object *object, uint64_t address)
{
    uint64_t end = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    mpiq_object_lock();
    while (!end && (section = elf_nextscn(object->elf, section))) {
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR && address >= header.sh_addr &&
            address - header.sh_addr < header.sh_size)
            end = header.sh_addr + header.sh_size;
    }
    mpiq_object_unlock();
    return end;
}

/* A static program has no .eh_frame_hdr; its symbols may tell. */
static bool bounds_by_symbol(const struct mpiq_module *module, struct mpiq_object *object, uint64_t address,
                             uint64_t *start, uint64_t *end)
{
    uint64_t first, behind;
    mpiq_object_lock();
    bool found = mpiq_symbols_bounds(object, address - module->bias, &first, &behind);
    mpiq_object_unlock();
    if (!found || behind - first > FUNCTION_MOST)
        return false;
    *start = first + module->bias;
    *end = behind + module->bias;
    return true;
}

bool mpiq_function_bounds(struct mpiq_modules *modules, uint64_t address, uint64_t *start, uint64_t *end)
{
    struct mpiq_module *module = mpiq_modules_at(modules, address);
    struct mpiq_object *object = module ? mpiq_module_object(modules, module) : NULL;
    GElf_Phdr frames;
    if (!object)
        return false;
    if (!find_frames(object, &frames))
        return bounds_by_symbol(module, object, address, start, end);
    const uint64_t header = frames.p_vaddr + module->bias, size = frames.p_memsz;
    bool good = true;
    uint64_t encodings = mpiq_code_number(modules, header, 4, &good);
    uint64_t count = mpiq_code_number(modules, header + 8, 4, &good);
    if (!good || (encodings >> 16 & 0xff) != ENCODED_UDATA4 || encodings >> 24 != ENCODED_DATAREL_SDATA4 ||
        count == 0 || size < 12 || count > (size - 12) / 8)
        return false;
    /* The last entry that begins at or before the address. */
    uint64_t low = 0, high = count;
    while (high - low > 1 && good) {
        uint64_t middle = low + (high - low) / 2;
        if (header + (uint64_t)offset_at(modules, header + 12 + middle * 8, &good) <= address)
            low = middle;
        else
            high = middle;
    }
    uint64_t first = header + (uint64_t)offset_at(modules, header + 12 + low * 8, &good);
    /* Behind the last function lies whatever is not code. */
    uint64_t code_end = find_code_end(object, address - module->bias);
    uint64_t next = code_end ? code_end + module->bias : module->end;
    if (low + 1 < count)
        next = header + (uint64_t)offset_at(modules, header + 12 + (low + 1) * 8, &good);
    if (!good || first > address || next <= address || next - first > FUNCTION_MOST)
        return false;
    *start = first;
    *end = next;
    return true;
}
