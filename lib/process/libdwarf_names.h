/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdwarf_names - what libdwarf asks about a file, by the names that it had until 0.2 (Debian 12's 20210528)
 * and those that it has since 0.3.  LIBDWARF_RENAMED says which (meson.build).
 */
#ifndef MPIQ_LIBDWARF_NAMES_H
#define MPIQ_LIBDWARF_NAMES_H

#ifdef LIBDWARF_PLAIN
#include <dwarf.h>
#include <libdwarf.h>
#else
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#endif

#ifdef LIBDWARF_RENAMED
typedef Dwarf_Unsigned libdwarf_index;
typedef Dwarf_Small libdwarf_order;
typedef Dwarf_Obj_Access_Section_a libdwarf_section;
typedef Dwarf_Obj_Access_Methods_a libdwarf_methods;
typedef Dwarf_Obj_Access_Interface_a libdwarf_access;
#define LIBDWARF_SECTION(name) as_##name
#define LIBDWARF_METHOD(name) om_##name
#define LIBDWARF_ACCESS(name) ai_##name
#define libdwarf_finish(debug, error) ((void)(error), dwarf_object_finish(debug))
#define DW_OBJECT_MSB DW_END_big
#define DW_OBJECT_LSB DW_END_little
#else
typedef Dwarf_Half libdwarf_index;
typedef Dwarf_Endianness libdwarf_order;
typedef Dwarf_Obj_Access_Section libdwarf_section;
typedef Dwarf_Obj_Access_Methods libdwarf_methods;
typedef Dwarf_Obj_Access_Interface libdwarf_access;
#define LIBDWARF_SECTION(name) name
#define LIBDWARF_METHOD(name) name
#define LIBDWARF_ACCESS(name) name
#define libdwarf_finish(debug, error) dwarf_object_finish(debug, error)
#endif

#endif
