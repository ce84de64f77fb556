/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What instructions are read as: encodings with what each does, written down by hand from the architectures'
 * manuals.  An instruction's text has its effects ("x0 = x1 + 8"), what it stores, where it goes and what it
 * compares; what nobody knows is "?".
 */
#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "process/aarch64.h"
#include "process/x86_64.h"
#include "suite.h"

enum { TEXT_MOST = 256, ADDRESS = 0x1000 };

struct text {
    char bytes[TEXT_MOST];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text->bytes + text->size, TEXT_MOST - text->size, format, arguments);
    va_end(arguments);
    text->size += (size_t)size < TEXT_MOST - text->size ? (size_t)size : TEXT_MOST - text->size - 1;
}

static const char *const signs[] = {[MPIQ_ADD] = "+",
                                    [MPIQ_SUBTRACT] = "-",
                                    [MPIQ_AND] = "&",
                                    [MPIQ_OR] = "|",
                                    [MPIQ_XOR] = "^",
                                    [MPIQ_SHIFT_LEFT] = "<<",
                                    [MPIQ_SHIFT_RIGHT] = ">>",
                                    [MPIQ_SHIFT_SIGNED] = ">>>",
                                    [MPIQ_MULTIPLY] = "*",
                                    [MPIQ_DIVIDE] = "/",
                                    [MPIQ_DIVIDE_SIGNED] = "/-",
                                    [MPIQ_CHOOSE] = "unless condition"};
static const char *const conditions[MPIQ_CONDITIONS + 1] = {
    "==",        "!=",          "<",     ">=",       "<=",           ">", "below",
    "not below", "below or ==", "above", "negative", "not negative", "?"};

static void put_operand(struct text *text, const struct mpiq_operand *operand)
{
    static const char *const parts[] = {"", " low", " low signed"};
    static const char *const turns[] = {"", "~", "-", "1+"};
    switch (operand->kind) {
    case MPIQ_OPERAND_NUMBER:
        put(text, "%" PRId64, (int64_t)operand->value);
        break;
    case MPIQ_OPERAND_REGISTER:
        put(text, "%s%sr%d.%d", turns[operand->turn], operand->is_signed ? "signed " : "", operand->reg,
            operand->width);
        if (operand->shift)
            put(text, "%s%d", signs[operand->shift], operand->shift_by);
        break;
    case MPIQ_OPERAND_MEMORY:
        put(text, "[%s", operand->unfollowed ? "? " : "");
        if (operand->reg >= 0)
            put(text, "r%d ", operand->reg);
        if (operand->index >= 0)
            put(text, "+ r%d%s * %d ", operand->index, parts[operand->index_part], operand->scale);
        put(text, "+ %" PRId64 "].%d", (int64_t)operand->value, operand->width);
        break;
    default:
        put(text, "?");
        break;
    }
}

static void put_effect(struct text *text, const struct mpiq_effect *effect)
{
    static const char *const names[] = {[MPIQ_MOVE] = "",
                                        [MPIQ_EXTEND] = "extend ",
                                        [MPIQ_EXTENSION] = "extension ",
                                        [MPIQ_ADDRESS] = "address ",
                                        [MPIQ_NEGATE] = "-",
                                        [MPIQ_INVERT] = "~",
                                        [MPIQ_QUOTIENT] = "quotient ",
                                        [MPIQ_REMAINDER] = "remainder ",
                                        [MPIQ_SET_BYTE] = "byte ",
                                        [MPIQ_INSERT] = "insert ",
                                        [MPIQ_ADD_PRODUCT] = "add product ",
                                        [MPIQ_SUBTRACT_PRODUCT] = "subtract product "};
    bool binary = effect->operation < sizeof signs / sizeof *signs && signs[effect->operation];
    put(text, "r%d.%d = %s", effect->reg, effect->width, binary ? "" : names[effect->operation]);
    put_operand(text, &effect->a);
    if (binary)
        put(text, " %s ", signs[effect->operation]);
    if (binary || effect->b.kind)
        put(text, binary ? "" : ", ");
    if (binary || effect->b.kind)
        put_operand(text, &effect->b);
    if (effect->c.kind) {
        put(text, ", ");
        put_operand(text, &effect->c);
    }
    put(text, "; ");
}

static void put_flow(struct text *text, const struct mpiq_instruction *instruction)
{
    static const char *const flows[] = {"", "call ", "may jump ", "jump ", "ends"};
    put(text, "%s", flows[instruction->flow]);
    if (instruction->flow != MPIQ_FLOW_ON && instruction->flow != MPIQ_FLOW_ENDS)
        put_operand(text, &instruction->target);
    if (instruction->flow)
        put(text, "; ");
}

/* What the instruction does; of registers that are written without an effect, their numbers. */
static void describe(const struct mpiq_instruction *instruction, struct text *text)
{
    uint32_t rest = instruction->writes;
    for (int i = 0; i < instruction->effect_count; i++) {
        put_effect(text, &instruction->effects[i]);
        rest &= ~(UINT32_C(1) << instruction->effects[i].reg);
    }
    for (int i = 0; i < 32 && rest != UINT32_MAX; i++) {
        if (rest >> i & 1)
            put(text, "r%d = ?; ", i);
    }
    if (rest == UINT32_MAX)
        put(text, "all = ?; ");
    if (instruction->store == MPIQ_STORES_ANYWHERE)
        put(text, "stores anywhere; ");
    if (instruction->store == MPIQ_STORES_AT || instruction->store == MPIQ_STORES_PUSHED) {
        put(text, instruction->store == MPIQ_STORES_AT ? "" : "push");
        if (instruction->store == MPIQ_STORES_AT)
            put_operand(text, &instruction->to);
        for (int i = 0; i < instruction->stored_count; i++) {
            put(text, i ? ", " : " := ");
            put_operand(text, &instruction->stored[i]);
        }
        put(text, "; ");
    }
    put_flow(text, instruction);
    if (instruction->comparison) {
        put(text, instruction->comparison == MPIQ_COMPARES ? "compare " : "compare bits ");
        put_operand(text, &instruction->left);
        put(text, ", ");
        put_operand(text, &instruction->right);
        put(text, "; ");
    }
    if (instruction->condition != MPIQ_CONDITIONS)
        put(text, "if %s; ", conditions[instruction->condition]);
    if (instruction->writes_flags)
        put(text, "flags; ");
    if (instruction->loses_stack)
        put(text, "stack lost; ");
    else if (instruction->stack_move)
        put(text, "stack %+" PRId64 "; ", instruction->stack_move);
    text->size -= text->size > 2 ? 2 : text->size;
    text->bytes[text->size] = '\0';
}

static void check(const struct mpiq_architecture *architecture, const uint8_t *bytes, size_t size,
                  const char *expected)
{
    csh decoder;
    CU_ASSERT_EQUAL_FATAL(cs_open(architecture->decoder, architecture->mode, &decoder), CS_ERR_OK);
    cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
    if (architecture->instruction_size)
        cs_option(decoder, CS_OPT_SKIPDATA, CS_OPT_ON);
    cs_insn *decoded = NULL;
    struct mpiq_instruction instruction;
    struct text text = {.size = 0};
    CU_ASSERT_EQUAL_FATAL(cs_disasm(decoder, bytes, size, ADDRESS, 1, &decoded), 1);
    architecture->read(decoder, decoded, &instruction);
    describe(&instruction, &text);
    if (strcmp(text.bytes, expected) != 0)
        printf("\n%s %s is read as \"%s\", not \"%s\"\n", decoded->mnemonic, decoded->op_str, text.bytes,
               expected ? expected : "");
    CU_ASSERT_STRING_EQUAL(text.bytes, expected);
    CU_ASSERT_EQUAL(instruction.address, ADDRESS);
    CU_ASSERT_EQUAL(instruction.size, size);
    cs_free(decoded, 1);
    cs_close(&decoder);
}

struct arm {
    uint32_t word;
    const char *expected;
};

static void check_arm(const struct arm *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = rows[i].word;
        const uint8_t bytes[] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
                                 (uint8_t)(word >> 24)};
        check(&mpiq_aarch64, bytes, sizeof bytes, rows[i].expected);
    }
}

#define CHECK_ARM(rows) check_arm(rows, sizeof(rows) / sizeof *(rows))

static void test_arm_moves(void)
{
    static const struct arm rows[] = {
        {0xd2a24680, "r0.8 = 305397760"},                                    /* movz x0, #0x1234, lsl #16 */
        {0x12800000, "r0.4 = -1"},                                           /* mov w0, #-1 */
        {0x92800080, "r0.8 = -5"},                                           /* mov x0, #-5 */
        {0xf2cacf00, "r0.8 = insert r0.8, 95073396064256, 281470681743360"}, /* movk x0, #0x5678, lsl #32 */
        {0xaa0103e0, "r0.8 = r1.8"},                                         /* mov x0, x1 */
        {0x2a1f03e0, "r0.4 = 0"},                                            /* mov w0, wzr */
        {0x910003fd, "r29.8 = r31.8"},                                       /* mov x29, sp */
        {0x910003bf, "r31.8 = r29.8; stack lost"},                           /* mov sp, x29 */
        {0xb200f3e0, "r0.8 = 0 | 6148914691236517205"},                      /* mov x0, #0x5555555555555555 */
        {0x10000060, "r0.8 = 4108"},                                         /* adr x0, .+12 */
        {0x90000000, "r0.8 = 4096"},                                         /* adrp x0, . */
        {0x93407c20, "r0.8 = signed r1.4"},                                  /* sxtw x0, w1 */
        {0x13001c20, "r0.4 = signed r1.1"},                                  /* sxtb w0, w1 */
        {0x53003c20, "r0.4 = r1.2"},                                         /* uxth w0, w1 */
        {0x0e0c3c00, "r0.4 = ?"},                                            /* mov w0, v0.s[1] */
        {0x4e0c1c20, "flags"},                                               /* mov v0.s[1], w1 */
        {0x9e660000, "r0 = ?; flags"},                                       /* fmov x0, d0 */
        {0x1e620020, "flags"},                                               /* scvtf d0, w1 */
    };
    CHECK_ARM(rows);
}

static void test_arm_arithmetic(void)
{
    static const struct arm rows[] = {
        {0x8b22c820, "r0.8 = r1.8 + signed r2.4<<2"},                  /* add x0, x1, w2, sxtw #2 */
        {0x8b020c20, "r0.8 = r1.8 + r2.8<<3"},                         /* add x0, x1, x2, lsl #3 */
        {0x910043e0, "r0.8 = r31.8 + 16"},                             /* add x0, sp, #16 */
        {0x91400420, "r0.8 = r1.8 + 4096"},                            /* add x0, x1, #1, lsl #12 */
        {0xd10083ff, "r31.8 = r31.8 - 32; stack -32"},                 /* sub sp, sp, #32 */
        {0x910083ff, "r31.8 = r31.8 + 32; stack +32"},                 /* add sp, sp, #32 */
        {0xcb2163ff, "r31.8 = r31.8 - r1.8; stack lost"},              /* sub sp, sp, x1 */
        {0x31000420, "r0.4 = r1.4 + 1; flags"},                        /* adds w0, w1, #1 */
        {0x6b020020, "r0.4 = r1.4 - r2.4; compare r1.4, r2.4; flags"}, /* subs w0, w1, w2 */
        {0x72000820, "r0.4 = r1.4 & 7; compare bits r1.4, 7; flags"},  /* ands w0, w1, #7 */
        {0x6a220020, "r0.4 = r1.4 & ~r2.4; flags"},                    /* bics w0, w1, w2 */
        {0x4b010be0, "r0.4 = -r1.4<<2"},                               /* neg w0, w1, lsl #2 */
        {0x2a2103e0, "r0.4 = ~r1.4"},                                  /* mvn w0, w1 */
        {0x0a620c20, "r0.4 = r1.4 & ~r2.4>>3"},                        /* bic w0, w1, w2, lsr #3 */
        {0x0a827c20, "r0.4 = r1.4 & r2.4>>>31"},                       /* and w0, w1, w2, asr #31 */
        {0x0ac20c20, "r0.4 = r1.4 & ?"},                               /* and w0, w1, w2, ror #3 */
        {0xd3431c20, "r0.8 = r1.8>>3 & 31"},                           /* ubfx x0, x1, #3, #5 */
        {0xd37e7c20, "r0.8 = r1.8<<2 & 17179869180"},                  /* ubfiz x0, x1, #2, #32 */
        {0x937e7c20, "r0.8 = signed r1.4<<2"},                         /* sbfiz x0, x1, #2, #32 */
        {0x93438820, "r0.8 = ?"},                                      /* sbfx x0, x1, #3, #32 */
        {0x331d0c20, "r0.4 = insert r0.4, r1.4<<3, 120"},              /* bfi w0, w1, #3, #4 */
        {0x33031820, "r0.4 = insert r0.4, r1.4>>3, 15"},               /* bfxil w0, w1, #3, #4 */
        {0x531d7020, "r0.4 = r1.4 << 3"},                              /* lsl w0, w1, #3 */
        {0x1ac22820, "r0.4 = r1.4 >>> r2.4"},                          /* asr w0, w1, w2 */
        {0x13810c20, "r0 = ?; flags"},                                 /* ror w0, w1, #3 */
        {0x1b020c20, "r0.4 = add product r1.4, r2.4, r3.4"},           /* madd w0, w1, w2, w3 */
        {0x1b028c20, "r0.4 = subtract product r1.4, r2.4, r3.4"},      /* msub w0, w1, w2, w3 */
        {0x1b02fc20, "r0.4 = subtract product r1.4, r2.4, 0"},         /* mneg w0, w1, w2 */
        {0x9b227c20, "r0.8 = signed r1.4 * signed r2.4"},              /* smull x0, w1, w2 */
        {0x9ba27c20, "r0.8 = r1.4 * r2.4"},                            /* umull x0, w1, w2 */
        {0x1ac20c20, "r0.4 = r1.4 /- r2.4"},                           /* sdiv w0, w1, w2 */
        {0x9ac20820, "r0.8 = r1.8 / r2.8"},                            /* udiv x0, x1, x2 */
        {0x5ac01020, "r0 = ?; flags"},                                 /* clz w0, w1 */
    };
    CHECK_ARM(rows);
}

static void test_arm_conditions(void)
{
    static const struct arm rows[] = {
        {0x7100141f, "compare r0.4, 5; flags"},                          /* cmp w0, #5 */
        {0x3100041f, "compare r0.4, -1; flags"},                         /* cmn w0, #1 */
        {0x2b01001f, "flags"},                                           /* cmn w0, w1 */
        {0xeb21c01f, "compare r0.8, signed r1.4; flags"},                /* cmp x0, w1, sxtw */
        {0x7200001f, "compare bits r0.4, 1; flags"},                     /* tst w0, #1 */
        {0x7a431804, "if !=; flags"},                                    /* ccmp w0, #3, #4, ne */
        {0x1e612000, "flags"},                                           /* fcmp d0, d1 */
        {0x1a82b020, "r0.4 = r2.4 unless condition r1.4; if <"},         /* csel w0, w1, w2, lt */
        {0x1a821420, "r0.4 = 1+r2.4 unless condition r1.4; if !="},      /* csinc w0, w1, w2, ne */
        {0x1a9f17e0, "r0.4 = 0 unless condition 1; if =="},              /* cset w0, eq */
        {0x5a9f03e0, "r0.4 = 0 unless condition -1; if !="},             /* csetm w0, ne */
        {0x1a81d420, "r0.4 = r1.4 unless condition 1+r1.4; if >"},       /* cinc w0, w1, gt */
        {0x5a815420, "r0.4 = r1.4 unless condition -r1.4; if negative"}, /* cneg w0, w1, mi */
        {0xda9fa020, "r0.8 = -1 unless condition r1.8; if >="},          /* csinv x0, x1, xzr, ge */
        {0xda828420, "r0.8 = -r2.8 unless condition r1.8; if above"},    /* csneg x0, x1, x2, hi */
        {0x34000040, "may jump 4104; compare r0.4, 0; if =="},           /* cbz w0, .+8 */
        {0xb5ffffc3, "may jump 4088; compare r3.8, 0; if !="},           /* cbnz x3, .-8 */
        {0x36180040, "may jump 4104; compare bits r0.4, 8; if =="},      /* tbz w0, #3, .+8 */
        {0xb7f80040, "may jump 4104; compare bits r0.8, -9223372036854775808; if !="}, /* tbnz x0, #63, .+8 */
        {0x5400008d, "may jump 4112; if <="},                                          /* b.le .+16 */
        {0x54000086, "may jump 4112"},                                                 /* b.vs .+16 */
    };
    CHECK_ARM(rows);
}

static void test_arm_flow(void)
{
    static const struct arm rows[] = {
        {0x14000004, "jump 4112"},                                              /* b .+16 */
        {0x94000010, "r30 = ?; call 4160"},                                     /* bl .+64 */
        {0xd63f0060, "r30 = ?; call r3.8"},                                     /* blr x3 */
        {0xd61f0200, "jump r16.8"},                                             /* br x16 */
        {0xd65f03c0, "ends"},                                                   /* ret */
        {0xd4207d00, "ends"},                                                   /* brk #1000 */
        {0xd65f0bff, "all = ?; stores anywhere; ends; flags; stack lost"},      /* retaa */
        {0xd63f0860, "all = ?; stores anywhere; call r3.8; flags; stack lost"}, /* blraaz x3 */
        {0xd71f0860, "all = ?; stores anywhere; jump ?; flags; stack lost"},    /* braa x3, x0 */
        {0x04e0e3e0, "all = ?; stores anywhere; flags; stack lost"},            /* cntd x0 (SVE) */
        {0xd503233f, "r16 = ?; r17 = ?; r30 = ?; flags"},                       /* paciasp */
        {0xd503201f, ""},                                                       /* nop */
        {0xd5033bbf, ""},                                                       /* dmb ish */
        {0xd4000001, "r0 = ?; stores anywhere; flags"},                         /* svc #0 */
        {0xd53bd040, "r0 = ?; flags"},                                          /* mrs x0, tpidr_el0 */
    };
    CHECK_ARM(rows);
}

static void test_arm_memory(void)
{
    static const struct arm rows[] = {
        {0xf8408420, "r0.8 = [r1 + 0].8; r1.8 = r1.8 + 8"},    /* ldr x0, [x1], #8 */
        {0xf8408c20, "r0.8 = [r1 + 8].8; r1.8 = r1.8 + 8"},    /* ldr x0, [x1, #8]! */
        {0xf862d820, "r0.8 = [r1 + r2 low signed * 8 + 0].8"}, /* ldr x0, [x1, w2, sxtw #3] */
        {0xb8627820, "r0.4 = [r1 + r2 * 4 + 0].4"},            /* ldr w0, [x1, x2, lsl #2] */
        {0xb8624820, "r0.4 = [r1 + r2 low * 1 + 0].4"},        /* ldr w0, [x1, w2, uxtw] */
        {0xa8c27bfd,
         "r29.8 = [r31 + 0].8; r30.8 = [r31 + 8].8; r31.8 = r31.8 + 32; stack +32"}, /* ldp x29, x30, [sp],
                                                                                        #32 */
        {0x294110a3, "r3.4 = [r5 + 8].4; r4.4 = [r5 + 12].4"},              /* ldp w3, w4, [x5, #8] */
        {0x69400440, "r0.8 = extend [r2 + 0].4; r1.8 = extend [r2 + 4].4"}, /* ldpsw x0, x1, [x2] */
        {0x58000100, "r0.8 = [+ 4128].8"},                                  /* ldr x0, .+32 */
        {0x98000100, "r0.8 = extend [+ 4128].4"},                           /* ldrsw x0, .+32 */
        {0x39400020, "r0.4 = [r1 + 0].1"},                                  /* ldrb w0, [x1] */
        {0x39800020, "r0.8 = extend [r1 + 0].1"},                           /* ldrsb x0, [x1] */
        {0xacc10400, "r0.8 = r0.8 + 32"},                                   /* ldp q0, q1, [x0], #32 */
        {0xa9be7bfd,
         "r31.8 = r31.8 + -32; [r31 + -32].16 := r29.8, r30.8; stack -32"}, /* stp x29, x30, [sp, #-32]! */
        {0xa90107ff, "[r31 + 16].16 := 0, r1.8"},                           /* stp xzr, x1, [sp, #16] */
        {0xb90007ff, "[r31 + 4].4 := 0"},                                   /* str wzr, [sp, #4] */
        {0xf80107e0, "r31.8 = r31.8 + 16; [r31 + 0].8 := r0.8; stack +16"}, /* str x0, [sp], #16 */
        {0x3c810420, "r1.8 = r1.8 + 16; [r1 + 0].16 := ?"},                 /* str q0, [x1], #16 */
        {0xad0107e0, "[r31 + 32].32 := ?, ?"},                              /* stp q0, q1, [sp, #32] */
        {0xb81fc3a0, "[r29 + -4].4 := r0.4"},                               /* stur w0, [x29, #-4] */
        {0x885f7c20, "r0 = ?; r1 = ?; stores anywhere; flags"},             /* ldxr w0, [x1] */
        {0x4c007800, "r0 = ?; stores anywhere; flags"},                     /* st1 {v0.4s}, [x0] */
        {0xf9800000, ""},                                                   /* prfm pldl1keep, [x0] */
        {0xd50b7420, "r0 = ?; stores anywhere; flags"},                     /* dc zva, x0 */
    };
    CHECK_ARM(rows);
}

struct x86 {
    const char *bytes;
    size_t size;
    const char *expected;
};

#define X86(bytes, expected)               \
    {                                      \
        bytes, sizeof(bytes) - 1, expected \
    }

static void test_x86(void)
{
    static const struct x86 rows[] = {
        X86("\x48\x8d\x3d\x10\x00\x00\x00", "r5.8 = address [+ 4119].8"), /* lea rdi, [rip + 16] */
        X86("\x8b\x74\x98\x04", "r4.4 = [r0 + r3 * 4 + 4].4"),            /* mov esi, [rax + rbx*4 + 4] */
        X86("\x48\x63\xf0", "r4.8 = extend r0.4"),                        /* movsxd rsi, eax */
        X86("\x31\xff", "r5.4 = 0; flags"),                               /* xor edi, edi */
        X86("\x6a\x05", "r7 = ?; push := 5; stack -8"),                   /* push 5 */
        X86("\xff\x35\x10\x00\x00\x00", "r7 = ?; push := [+ 4118].8; stack -8"), /* push [rip + 16] */
        X86("\x89\x7d\xec", "[r6 + -20].4 := r5.4"),                             /* mov [rbp - 20], edi */
        X86("\xe8\x00\x01\x00\x00", "r7 = ?; push; call 4357; stack lost"),      /* call .+261 */
        X86("\xff\x25\x10\x00\x00\x00", "jump [+ 4118].8"),                      /* jmp [rip + 16] */
        X86("\xff\xe0", "jump r0.8"),                                            /* jmp rax */
        X86("\xc3", "r7 = ?; ends; stack lost"),                                 /* ret */
        X86("\x7e\x05", "may jump 4103; if <="),                                 /* jle .+7 */
        X86("\x0f\x44\xc1", "r0.4 = r0.4 unless condition r2.4; if =="),         /* cmove eax, ecx */
        X86("\x0f\x05", "r0 = ?; r2 = ?; r11 = ?; stores anywhere; flags"),      /* syscall */
        X86("\x0f\xb1\x0f", "r0 = ?; [r5 + 0].4; flags"),                        /* cmpxchg [rdi], ecx */
        X86("\x0f\x11\x07", "[r5 + 0].16"),                                      /* movups [rdi], xmm0 */
        X86("\x66\x0f\x7f\x07", "[r5 + 0].16"),                                  /* movdqa [rdi], xmm0 */
        X86("\x0f\x17\x07", "[r5 + 0].8"),                                       /* movhps [rdi], xmm0 */
        X86("\xf2\x0f\x11\x07", "[r5 + 0].8"),                                   /* movsd [rdi], xmm0 */
        X86("\xc5\xfc\x11\x07", "[r5 + 0].32"),                                  /* vmovups [rdi], ymm0 */
        X86("\x0f\xc3\x07", "[r5 + 0].4"),                                       /* movnti [rdi], eax */
        X86("\x0f\x9c\x07", "[r5 + 0].1; if <"),                                 /* setl [rdi] */
        X86("\x0f\xae\x07", "stores anywhere"),                                  /* fxsave [rdi] */
        X86("\x62\xf2\x7d\x49\xa0\x04\x8f", "stores anywhere"), /* vpscatterdd [rdi+zmm1*4]{k1}, zmm0 */
        X86("\xf7\x07\x03\x00\x00\x00", "compare bits [r5 + 0].4, 3; flags"), /* test [rdi], 3 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&mpiq_x86_64, (const uint8_t *)rows[i].bytes, rows[i].size, rows[i].expected);
}

int main(void)
{
    return suite_run("instructions", (CU_TestInfo[]){{"arm_moves", test_arm_moves},
                                                     {"arm_arithmetic", test_arm_arithmetic},
                                                     {"arm_conditions", test_arm_conditions},
                                                     {"arm_flow", test_arm_flow},
                                                     {"arm_memory", test_arm_memory},
                                                     {"x86", test_x86},
                                                     CU_TEST_INFO_NULL});
}
