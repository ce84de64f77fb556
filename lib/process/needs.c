/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/needs.h"

#include <stdlib.h>

#include "base/memory.h"
#include "process/symbols.h"

/* What one object loads, at most; the rest is left out. */
enum { NEEDS_MAX = 256, SYMBOLS_MAX = 32 };

/* Names lie in the object's file. */
struct needs {
    bool read;
    const char *soname;
    const char **names;
    size_t count;
    const char *const *symbols; /* that were asked for */
    uint32_t defines;           /* which of those */
};

static void needs_deinit(void *memory)
{
    free(((struct needs *)memory)->names);
}

static void take(struct needs *needs, Elf *elf, const GElf_Shdr *header, Elf_Data *data, size_t entries)
{
    needs->names = mpiq_memory_checked(calloc(NEEDS_MAX, sizeof *needs->names));
    for (size_t i = 0; i < entries && needs->names; i++) {
        GElf_Dyn entry;
        if (!gelf_getdyn(data, (int)i, &entry) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, (size_t)entry.d_un.d_val);
        if (!name || !*name)
            continue;
        if (entry.d_tag == DT_SONAME)
            needs->soname = name;
        else if (needs->count < NEEDS_MAX)
            needs->names[needs->count++] = name;
    }
}

/* Those of the object's own file.  NULL without memory. */
static struct needs *needs_of(struct mpiq_object *object)
{
    struct needs *needs = mpiq_object_part(object, MPIQ_OBJECT_NEEDS, sizeof *needs, needs_deinit);
    if (!needs || needs->read)
        return needs;
    needs->read = true;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(object->elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC || !header.sh_entsize)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data)
            take(needs, object->elf, &header, data, header.sh_size / header.sh_entsize);
        break;
    }
    return needs;
}

static void describe(struct mpiq_object *object, const char *const *symbols, struct mpiq_target_object *ret)
{
    mpiq_object_lock();
    struct needs *needs = needs_of(object);
    if (needs && needs->symbols != symbols) {
        needs->defines = 0;
        for (unsigned i = 0; i < SYMBOLS_MAX && symbols[i]; i++) {
            uint64_t address;
            if (mpiq_symbols_find(object, MPIQ_SYMBOL_GLOBAL, symbols[i], &address))
                needs->defines |= UINT32_C(1) << i;
        }
        needs->symbols = symbols;
    }
    if (needs) {
        ret->soname = needs->soname;
        ret->needs = needs->names;
        ret->need_count = needs->count;
        ret->defines = needs->defines;
    }
    mpiq_object_unlock();
}

struct mpiq_error *mpiq_modules_objects(struct mpiq_modules *modules, const char *const *symbols,
                                        struct mpiq_target_object **ret, size_t *count)
{
    struct mpiq_target_object *list = calloc(modules->count + 1, sizeof *list);
    if (!list)
        return mpiq_error_no_memory();
    for (size_t i = 0; i < modules->count; i++) {
        struct mpiq_module *module = &modules->items[i];
        struct mpiq_object *object = mpiq_module_object(modules, module);
        list[i] = (struct mpiq_target_object){
            .path = module->mapping->path, .program = module->main, .unread = !object || !object->elf};
        if (list[i].unread)
            continue;
        list[i].id = object->id;
        describe(object, symbols, &list[i]);
        /* What is left of a file in memory has no tables. */
        list[i].unread = !module->main && !list[i].soname && !list[i].need_count && !list[i].defines;
    }
    *ret = list;
    *count = modules->count;
    return NULL;
}
