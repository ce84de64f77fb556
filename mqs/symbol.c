/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "process.h"
#include "symbol.h"

static const char *const names[SYMBOL_END] = {
#define SYMBOL_NAME(name) #name,
    SYMBOLS(SYMBOL_NAME)
#undef SYMBOL_NAME
};

bool symbol_find(mqs_process_info *info, enum symbol symbol, mqs_taddr_t *ret)
{
    struct symbols *symbols = &info->symbols;

    if (symbols->address[symbol] == 0 && !symbols->failed[symbol]) {
        mqs_taddr_t address = 0;

        if (info->image_callbacks->mqs_find_symbol_fp(info->image, (char *)names[symbol], &address) ==
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

void symbol_add(struct symbols *symbols, const char *name, mqs_taddr_t address)
{
    for (int i = 0; i < SYMBOL_END; i++) {
        if (address != 0 && strcmp(names[i], name) == 0) {
            symbols->address[i] = address;
        }
    }
}

void symbol_retry(struct symbols *symbols)
{
    memset(symbols->failed, 0, sizeof symbols->failed);
}
