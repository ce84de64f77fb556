/* SPDX-License-Identifier: BSD-3-Clause */
/* client_out - JSON on standard output, value by value. */
#ifndef CLIENT_OUT_H
#define CLIENT_OUT_H

/* Members of an object.  What cannot be printed in a text becomes a question mark. */
void out_text(const char *name, const char *value);
void out_number(const char *name, long long value);
void out_address(const char *name, unsigned long long value);

/* An element of an array, which is JSON. */
void out_value(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An array or object, by its bracket; name may be NULL. */
void out_open(const char *name, char bracket);
void out_close(char bracket);

#endif
