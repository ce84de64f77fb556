/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>

#include "self.h"

void self_read_name(const struct root *root, struct groups *groups)
{
    struct memory *memory = groups->memory;
    mqs_taddr_t symbol;
    mqs_taddr_t proc;

    groups->self_known = false;
    if (root->present && root->record.world_size > 0) {
        groups->self.jobid = root->record.jobid;
        groups->self.vpid = root->record.vpid;
        groups->self_known = true;
        return;
    }
    if (layout_has(&memory->layout, AT_PROC_NAME) &&
        symbol_find(&memory->symbols, SYMBOL_ompi_proc_local_proc, &symbol) &&
        fetch_pointer(&memory->fetch, symbol, &proc) == mqs_ok && proc != 0) {
        groups->self_known = group_name_of(groups, proc, &groups->self) == mqs_ok;
    }
}

/* It comes to stand in a message that debuggers use as a format: a name of the process's choice must not be
 * one. */
static void make_harmless(char *name)
{
    for (; *name != '\0'; name++) {
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
            *name = '?';
    }
}

static void read_pml(struct memory *memory, const struct root *root, char pml[PML_NAME])
{
    unsigned char bytes[LAYOUT_MAX_STRUCT];
    mqs_taddr_t component;
    int32_t offset = memory->layout.offset[AT_COMPONENT_NAME];

    pml[0] = '\0';
    if (root->present && root->record.pml[0] != '\0') {
        snprintf(pml, PML_NAME, "%s", root->record.pml);
        return;
    }
    /* The selected component begins with what all components begin with. */
    if (layout_has(&memory->layout, AT_COMPONENT_NAME) &&
        symbol_find(&memory->symbols, SYMBOL_mca_pml_base_selected_component, &component) &&
        fetch_structure(memory, component, AT_COMPONENT, bytes) == mqs_ok) {
        text_copy(pml, PML_NAME, bytes + offset, (size_t)(memory->layout.size[AT_COMPONENT] - offset));
    }
}

void self_read_pml(struct memory *memory, const struct root *root, char pml[PML_NAME])
{
    read_pml(memory, root, pml);
    make_harmless(pml);
}
