/* SPDX-License-Identifier: BSD-3-Clause */
#include "client_out.h"

#include <stdarg.h>
#include <stdio.h>

static const char *separator = "";

void out_text(const char *name, const char *value)
{
    printf("%s\"%s\":\"", separator, name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\') {
            putchar('\\');
        }
        putchar((unsigned char)*value < ' ' ? '?' : *value);
    }
    putchar('"');
    separator = ",";
}

void out_number(const char *name, long long value)
{
    printf("%s\"%s\":%lld", separator, name, value);
    separator = ",";
}

void out_address(const char *name, unsigned long long value)
{
    printf("%s\"%s\":\"0x%llx\"", separator, name, value);
    separator = ",";
}

void out_open(const char *name, char bracket)
{
    printf("%s", separator);
    if (name != NULL) {
        printf("\"%s\":", name);
    }
    putchar(bracket);
    separator = "";
}

void out_close(char bracket)
{
    putchar(bracket);
    separator = ",";
}

void out_value(const char *format, ...)
{
    va_list arguments;

    printf("%s", separator);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    separator = ",";
}
