/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* No library has more of these, or is larger. */
enum { HEADER_LIMIT = 64, DYNAMIC_LIMIT = 4096, SYMBOL_LIMIT = 1 << 22 };
static const uint64_t size_limit = (uint64_t)256 << 20;

struct load {
    uint64_t offset, address, size; /* in the file; the object's own address */
};

struct image {
    struct mpiq_target *target;
    struct mpiq_words words;
    uint64_t start, bias;
    struct load loads[HEADER_LIMIT];
    int load_count;
    uint64_t dynamic, dynamic_size; /* the object's own address */
    unsigned char *bytes;
    size_t size;
};

/* What the dynamic section tells, as offsets in the file; 0: not there. */
struct dynamic {
    uint64_t symbols, strings, strings_size, versions, hash, gnu_hash;
};

/* Members that lie in different places in 32-bit and 64-bit structures. */
#define AT(image, type, member) \
    ((image)->words.size == 8 ? offsetof(Elf64_##type, member) : offsetof(Elf32_##type, member))
#define SIZE(image, type) ((image)->words.size == 8 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static struct mpiq_error *corrupt(const char *what)
{
    return mpiq_error_create(MPIQ_ERROR_CORRUPT, "%s of the object in memory are malformed", what);
}

static struct mpiq_error *read_headers(struct image *image)
{
    unsigned char page[4096];
    struct mpiq_error *error = mpiq_target_read(image->target, image->start, sizeof page, page);
    if (error)
        return error;
    uint64_t at = mpiq_word(&image->words, page + AT(image, Ehdr, e_phoff));
    uint64_t count = mpiq_word_sized(&image->words, page + AT(image, Ehdr, e_phnum), 2);
    uint64_t size = SIZE(image, Phdr), first = UINT64_MAX;
    if (memcmp(page, ELFMAG, SELFMAG) != 0 || count > HEADER_LIMIT || at > sizeof page ||
        count * size > sizeof page - at)
        return corrupt("the headers");
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *header = page + at + i * size;
        uint64_t type = mpiq_word_sized(&image->words, header, 4);
        uint64_t address = mpiq_word(&image->words, header + AT(image, Phdr, p_vaddr));
        uint64_t offset = mpiq_word(&image->words, header + AT(image, Phdr, p_offset));
        uint64_t length = mpiq_word(&image->words, header + AT(image, Phdr, p_filesz));
        if (type == PT_DYNAMIC) {
            image->dynamic = address;
            image->dynamic_size = length;
        }
        if (type != PT_LOAD || length == 0)
            continue;
        if (offset > size_limit || length > size_limit - offset)
            return corrupt("the program headers");
        image->loads[image->load_count++] = (struct load){offset, address, length};
        if (offset + length > image->size)
            image->size = (size_t)(offset + length);
        if (address - offset % 4096 < first)
            first = address & ~(uint64_t)4095;
    }
    if (!image->load_count || !image->size)
        return corrupt("the program headers");
    image->bias = image->start - first;
    return NULL;
}

/* The offset in the file of one of the object's own addresses, with size bytes there; 0 if there is none. */
static uint64_t offset_of(const struct image *image, uint64_t address, uint64_t size)
{
    /* The dynamic linker writes absolute addresses into the dynamic section, on most machines. */
    if (address >= image->start && image->bias)
        address -= image->bias;
    for (int i = 0; i < image->load_count; i++) {
        const struct load *load = &image->loads[i];
        if (address >= load->address && address - load->address < load->size &&
            size <= load->size - (address - load->address))
            return load->offset + (address - load->address);
    }
    return 0;
}

static struct dynamic read_dynamic(const struct image *image)
{
    struct dynamic dynamic = {0};
    size_t word = (size_t)image->words.size;
    uint64_t at = offset_of(image, image->dynamic, image->dynamic_size);
    for (uint64_t i = 0; at && i < DYNAMIC_LIMIT && (i + 1) * 2 * word <= image->dynamic_size; i++) {
        uint64_t tag = mpiq_word(&image->words, image->bytes + at + i * 2 * word);
        uint64_t value = mpiq_word(&image->words, image->bytes + at + i * 2 * word + word);
        if (tag == DT_NULL)
            break;
        else if (tag == DT_SYMTAB)
            dynamic.symbols = offset_of(image, value, 1);
        else if (tag == DT_STRTAB)
            dynamic.strings = offset_of(image, value, 1);
        else if (tag == DT_STRSZ)
            dynamic.strings_size = value;
        else if (tag == DT_VERSYM)
            dynamic.versions = offset_of(image, value, 1);
        else if (tag == DT_HASH)
            dynamic.hash = offset_of(image, value, 8);
        else if (tag == DT_GNU_HASH)
            dynamic.gnu_hash = offset_of(image, value, 16);
    }
    return dynamic;
}

static uint64_t number_at(const struct image *image, uint64_t offset)
{
    return offset + 4 <= image->size ? mpiq_word_sized(&image->words, image->bytes + offset, 4) : 0;
}

/* How many symbols there are is written nowhere but in the hash tables: the last one is at the end of the
   longest chain. */
static uint64_t count_symbols(const struct image *image, const struct dynamic *dynamic)
{
    if (dynamic->hash)
        return number_at(image, dynamic->hash + 4);
    if (!dynamic->gnu_hash)
        return 0;
    uint64_t buckets = number_at(image, dynamic->gnu_hash), first = number_at(image, dynamic->gnu_hash + 4);
    uint64_t filters = number_at(image, dynamic->gnu_hash + 8), last = 0;
    uint64_t bucket_at = dynamic->gnu_hash + 16 + filters * (uint64_t)image->words.size;
    uint64_t chain_at = bucket_at + 4 * buckets;
    for (uint64_t i = 0; i < buckets && bucket_at + 4 * i < image->size; i++) {
        uint64_t symbol = number_at(image, bucket_at + 4 * i);
        last = symbol > last ? symbol : last;
    }
    if (last < first)
        return first;
    while (last < SYMBOL_LIMIT && chain_at + 4 * (last - first) < image->size &&
           !(number_at(image, chain_at + 4 * (last - first)) & 1))
        last++;
    return last + 1;
}

static void put(const struct image *image, size_t at, int size, uint64_t value)
{
    for (int i = 0; i < size; i++)
        image->bytes[at + (size_t)(image->words.big_endian ? size - 1 - i : i)] =
            (unsigned char)(value >> 8 * i);
}

static void put_section(const struct image *image, size_t table, int index, uint32_t name, uint32_t type,
                        uint64_t offset, uint64_t size, uint32_t link, uint64_t entry)
{
    size_t at = table + (size_t)index * SIZE(image, Shdr);
    put(image, at + AT(image, Shdr, sh_name), 4, name);
    put(image, at + AT(image, Shdr, sh_type), 4, type);
    put(image, at + AT(image, Shdr, sh_offset), image->words.size, offset);
    put(image, at + AT(image, Shdr, sh_size), image->words.size, size);
    put(image, at + AT(image, Shdr, sh_link), 4, link);
    put(image, at + AT(image, Shdr, sh_addralign), image->words.size, 1);
    put(image, at + AT(image, Shdr, sh_entsize), image->words.size, entry);
}

/* Section headers behind the rest: what reads symbols need not know that these came without. */
static struct mpiq_error *add_sections(struct image *image)
{
    static const char names[] = "\0.dynsym\0.dynstr\0.gnu.version\0.shstrtab";
    enum { COUNT = 5 };
    struct dynamic dynamic = read_dynamic(image);
    uint64_t symbols = count_symbols(image, &dynamic), entry = SIZE(image, Sym);
    bool usable = dynamic.symbols && dynamic.strings && symbols <= SYMBOL_LIMIT &&
                  symbols * entry <= image->size - dynamic.symbols &&
                  dynamic.strings_size <= image->size - dynamic.strings;
    bool versioned = usable && dynamic.versions && symbols * 2 <= image->size - dynamic.versions;
    size_t names_at = image->size, table = (names_at + sizeof names + 15) & ~(size_t)15;
    size_t size = table + COUNT * SIZE(image, Shdr);
    unsigned char *larger = realloc(image->bytes, size);
    if (!larger)
        return mpiq_error_no_memory();
    image->bytes = larger;
    memset(image->bytes + names_at, 0, size - names_at);
    memcpy(image->bytes + names_at, names, sizeof names);
    image->size = size;
    if (usable) {
        put_section(image, table, 1, 1, SHT_DYNSYM, dynamic.symbols, symbols * entry, 2, entry);
        put_section(image, table, 2, 9, SHT_STRTAB, dynamic.strings, dynamic.strings_size, 0, 0);
    }
    if (versioned)
        put_section(image, table, 3, 17, SHT_GNU_versym, dynamic.versions, symbols * 2, 1, 2);
    put_section(image, table, 4, 30, SHT_STRTAB, names_at, sizeof names, 0, 0);
    put(image, AT(image, Ehdr, e_shoff), image->words.size, table);
    put(image, AT(image, Ehdr, e_shnum), 2, COUNT);
    put(image, AT(image, Ehdr, e_shentsize), 2, SIZE(image, Shdr));
    put(image, AT(image, Ehdr, e_shstrndx), 2, COUNT - 1);
    return NULL;
}

struct mpiq_error *mpiq_image_read(struct mpiq_target *target, const struct mpiq_words *words, uint64_t start,
                                   void **ret, size_t *size)
{
    struct image image = {.target = target, .words = *words, .start = start};
    struct mpiq_error *error = read_headers(&image);
    if (error)
        return error;
    image.bytes = calloc(1, image.size + 1);
    if (!image.bytes)
        return mpiq_error_no_memory();
    for (int i = 0; i < image.load_count && !error; i++) {
        const struct load *load = &image.loads[i];
        error = mpiq_target_read(target, load->address + image.bias, load->size, image.bytes + load->offset);
    }
    if (!error)
        error = add_sections(&image);
    if (error) {
        free(image.bytes);
        return error;
    }
    *ret = image.bytes;
    *size = image.size;
    return NULL;
}
