/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/name_table.h"

struct mpiq_function {
    uint64_t start;
    uint64_t end; /* == start: size not known */
    const char *name;
    bool global;
};

struct mpiq_symbols {
    struct mpiq_name_table scopes[3];
    bool read[3];
    struct mpiq_function *functions; /* ascending start */
    size_t function_count, function_capacity;
    bool functions_sorted;
    char **owned; /* names cut at a version's '@' */
    size_t owned_count;
};

/* A symbol table and what is needed to read it. */
struct symbol_source {
    Elf *elf;
    Elf_Data *symbols, *versions;
    size_t count, strings;
};

static bool open_source(Elf *elf, unsigned type, struct symbol_source *ret)
{
    struct symbol_source source = {.elf = elf};
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == type && header.sh_entsize && !source.symbols) {
            source.symbols = elf_getdata(section, NULL);
            source.count = header.sh_size / header.sh_entsize;
            source.strings = header.sh_link;
        } else if (header.sh_type == SHT_GNU_versym && type == SHT_DYNSYM) {
            source.versions = elf_getdata(section, NULL);
        }
    }
    if (!source.symbols)
        return false;
    *ret = source;
    return true;
}

/* The name without its version, or NULL without memory. */
static const char *plain_name(struct mpiq_symbols *symbols, const char *name, const char *at)
{
    char **larger = mpiq_memory_checked(realloc(symbols->owned, (symbols->owned_count + 1) * sizeof *larger));
    if (!larger)
        return NULL;
    symbols->owned = larger;
    char *copy = mpiq_memory_checked(strndup(name, (size_t)(at - name)));
    if (copy)
        symbols->owned[symbols->owned_count++] = copy;
    return copy;
}

static void add_function(struct mpiq_symbols *symbols, const GElf_Sym *symbol, const char *name)
{
    if (symbols->function_count == symbols->function_capacity) {
        size_t capacity = symbols->function_capacity ? symbols->function_capacity * 2 : 256;
        struct mpiq_function *larger =
            mpiq_memory_checked(realloc(symbols->functions, capacity * sizeof *larger));
        if (!larger)
            return;
        symbols->functions = larger;
        symbols->function_capacity = capacity;
    }
    uint64_t end = symbol->st_value + symbol->st_size;
    symbols->functions[symbols->function_count++] = (struct mpiq_function){
        .start = symbol->st_value,
        .end = end < symbol->st_value ? symbol->st_value : end,
        .name = name,
        .global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL,
    };
}

/* Which symbols a pass over a table collects. */
struct symbol_wish {
    struct mpiq_name_table *table; /* NULL: functions by address */
    bool local, global;
};

static void take(struct mpiq_symbols *symbols, const struct symbol_source *source, size_t index,
                 const struct symbol_wish *wish)
{
    GElf_Sym symbol;
    GElf_Versym version = 0;
    if (!gelf_getsym(source->symbols, (int)index, &symbol) || symbol.st_shndx == SHN_UNDEF)
        return;
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (!function && (type != STT_OBJECT && type != STT_NOTYPE && type != STT_COMMON))
        return;
    const char *name = elf_strptr(source->elf, source->strings, symbol.st_name);
    if (!name || !*name)
        return;
    if (!wish->table) {
        if (function)
            add_function(symbols, &symbol, name);
        return;
    }
    bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    if (local ? !wish->local : !wish->global)
        return;
    /* The linker writes "name@VERSION" into .symtab for a version that is not the default, "name@@VERSION"
       for the one that is; .dynsym marks the former hidden. */
    const char *at = strchr(name, '@');
    bool is_default = !at || at[1] == '@';
    if (source->versions && gelf_getversym(source->versions, (int)index, &version) && (version & 0x8000))
        is_default = false;
    if (at && at > name && !(name = plain_name(symbols, name, at)))
        return;
    if (is_default)
        mpiq_name_table_set(wish->table, name, symbol.st_value);
    else
        mpiq_name_table_add(wish->table, name, symbol.st_value);
}

static void collect(struct mpiq_symbols *symbols, Elf *elf, unsigned type, const struct symbol_wish *wish)
{
    struct symbol_source source;
    if (!elf || !open_source(elf, type, &source))
        return;
    for (size_t i = 1; i < source.count; i++)
        take(symbols, &source, i, wish);
}

static void symbols_deinit(void *memory)
{
    struct mpiq_symbols *symbols = memory;
    for (size_t i = 0; i < sizeof symbols->scopes / sizeof *symbols->scopes; i++)
        mpiq_name_table_deinit(&symbols->scopes[i]);
    for (size_t i = 0; i < symbols->owned_count; i++)
        free(symbols->owned[i]);
    free(symbols->owned);
    free(symbols->functions);
}

static struct mpiq_symbols *symbols_of(struct mpiq_object *object)
{
    return mpiq_object_part(object, MPIQ_OBJECT_SYMBOLS, sizeof(struct mpiq_symbols), symbols_deinit);
}

bool mpiq_symbols_find(struct mpiq_object *object, enum mpiq_symbol_scope scope, const char *name,
                       uint64_t *ret)
{
    mpiq_object_lock();
    struct mpiq_symbols *symbols = symbols_of(object);
    if (!symbols) {
        mpiq_object_unlock();
        return false;
    }
    if (!symbols->read[scope]) {
        symbols->read[scope] = true;
        struct symbol_wish wish = {.table = &symbols->scopes[scope],
                                   .local = scope != MPIQ_SYMBOL_GLOBAL,
                                   .global = scope != MPIQ_SYMBOL_LOCAL};
        if (scope == MPIQ_SYMBOL_GLOBAL)
            collect(symbols, object->elf, SHT_DYNSYM, &wish);
        collect(symbols, scope == MPIQ_SYMBOL_DEBUG ? mpiq_object_debug_elf(object) : object->elf, SHT_SYMTAB,
                &wish);
    }
    bool found = mpiq_name_table_get(&symbols->scopes[scope], name, ret);
    mpiq_object_unlock();
    return found;
}

/* By start; of several names for one function a global one first, then the one with fewer underscores in
   front (PMPI_Send before its aliases is not decided here: the alphabet is). */
static int compare_functions(const void *a, const void *b)
{
    const struct mpiq_function *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    if (left->global != right->global)
        return left->global ? -1 : 1;
    size_t left_underscores = strspn(left->name, "_"), right_underscores = strspn(right->name, "_");
    if (left_underscores != right_underscores)
        return left_underscores < right_underscores ? -1 : 1;
    return strcmp(left->name, right->name);
}

static const struct mpiq_function *function_at(struct mpiq_object *object, uint64_t address)
{
    struct mpiq_symbols *symbols = symbols_of(object);
    if (!symbols)
        return NULL;
    if (!symbols->functions_sorted) {
        struct symbol_wish wish = {.local = true, .global = true};
        collect(symbols, object->elf, SHT_SYMTAB, &wish);
        if (!symbols->function_count)
            collect(symbols, mpiq_object_debug_elf(object), SHT_SYMTAB, &wish);
        collect(symbols, object->elf, SHT_DYNSYM, &wish);
        if (symbols->function_count)
            qsort(symbols->functions, symbols->function_count, sizeof *symbols->functions, compare_functions);
        symbols->functions_sorted = true;
    }
    size_t low = 0, high = symbols->function_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (symbols->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    uint64_t start = symbols->functions[low - 1].start;
    while (low > 1 && symbols->functions[low - 2].start == start)
        low--;
    for (; low <= symbols->function_count && symbols->functions[low - 1].start == start; low++) {
        const struct mpiq_function *function = &symbols->functions[low - 1];
        if (address < function->end || function->end == function->start)
            return function;
    }
    return NULL;
}

const char *mpiq_symbols_function(struct mpiq_object *object, uint64_t address)
{
    const struct mpiq_function *function = function_at(object, address);
    return function ? function->name : NULL;
}

bool mpiq_symbols_bounds(struct mpiq_object *object, uint64_t address, uint64_t *start, uint64_t *end)
{
    const struct mpiq_function *function = function_at(object, address);
    if (!function || function->end <= function->start)
        return false;
    *start = function->start;
    *end = function->end;
    return true;
}
