/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/views.h"

void mpiq_html_report(struct mpiq_page *page)
{
    mpiq_show_report(page);
}
