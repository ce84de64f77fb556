/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "ompi_mqs.h"
#include "symbol.h"

static const char *const names[SYMBOL_END] = {
#define SYMBOL_NAME(name) #name,
    SYMBOLS(SYMBOL_NAME)
#undef SYMBOL_NAME
};

bool symbol_find(struct symbols *symbols, enum symbol symbol, mqs_taddr_t *ret)
{
    if (symbols->address[symbol] == 0 && !symbols->failed[symbol]) {
        mqs_taddr_t address = 0;

        if (symbols->callbacks->mqs_find_symbol_fp(symbols->image, (char *)names[symbol], &address) ==
            mqs_ok) {
            symbols->address[symbol] = address;
        }
        symbols->failed[symbol] = symbols->address[symbol] == 0;
    }
    if (symbols->address[symbol] == 0) {
        return false;
    }
    *ret = symbols->address[symbol];
    return true;
}

bool symbol_find_name(const struct symbols *symbols, const char *name, mqs_taddr_t *ret)
{
    return symbols->callbacks->mqs_find_symbol_fp(symbols->image, (char *)name, ret) == mqs_ok;
}

void symbol_add(struct symbols *symbols, const char *name, mqs_taddr_t address)
{
    for (int i = 0; i < SYMBOL_END; i++) {
        if (address != 0 && strcmp(names[i], name) == 0) {
            symbols->address[i] = address;
        }
    }
}

#define LEAST 8        /* bytes of any variable */
#define PREDEFINED 512 /* that the library reserves for a predefined handle, however much it uses */

struct variable {
    mqs_taddr_t address;
    mqs_taddr_t end;
};

static int compare_variables(const void *a, const void *b)
{
    const struct variable *left = a;
    const struct variable *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

void symbol_expect(struct symbols *symbols, struct fetch *fetch)
{
    /* With room for what is known of them: more might not be mapped. */
    static const struct {
        enum symbol symbol;
        size_t size;
    } wanted[] = {
        {SYMBOL_ompi_mqs_root, sizeof(struct ompi_mqs_root)},
        {SYMBOL_ompi_mpi_communicators, LEAST},
        {SYMBOL_ompi_mpi_comm_world, PREDEFINED},
        {SYMBOL_ompi_mpi_comm_self, PREDEFINED},
        {SYMBOL_ompi_mpi_comm_null, PREDEFINED},
        {SYMBOL_mca_pml_base_send_requests, LEAST},
        {SYMBOL_mca_pml_base_recv_requests, LEAST},
        {SYMBOL_mca_pml_base_selected_component, LEAST},
        {SYMBOL_ompi_proc_local_proc, LEAST},
    };
    struct variable found[sizeof wanted / sizeof wanted[0]];
    size_t count = 0;

    if (symbols->expected) {
        return;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct variable *variable = &found[count];

        if (symbol_find(symbols, wanted[i].symbol, &variable->address)) {
            variable->end = variable->address + (mqs_taddr_t)wanted[i].size;
            count++;
        }
    }
    qsort(found, count, sizeof found[0], compare_variables);
    for (size_t first = 0, end; first < count; first = end) {
        mqs_taddr_t last = found[first].end;

        for (end = first + 1; end < count && found[end].end - found[first].address < SAME_LIBRARY; end++) {
            last = found[end].end > last ? found[end].end : last;
        }
        fetch_expect(fetch, found[first].address, (size_t)(last - found[first].address));
    }
    symbols->expected = count > 0;
}

void symbol_retry(struct symbols *symbols)
{
    memset(symbols->failed, 0, sizeof symbols->failed);
}
