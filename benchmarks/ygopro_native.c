/* npm's ocgcore-wasm, turned into C by wasm2c (Debian's wabt), behind the C interface of a core: OCG_*, version 11.
 *
 *   wasm2c --enable-exceptions .npm/node_modules/ocgcore-wasm/lib/ocgcore.jspi.wasm -n ocg -o ocg.c
 *   gcc -O2 -fPIC -shared -w -fno-strict-aliasing -I. -I/usr/share/wabt/wasm2c \
 *       benchmarks/ygopro_native.c ocg.c /usr/share/wabt/wasm2c/wasm-rt-impl.c -lm -o libocgcore.so
 *
 * So a real core can be measured in our own process. It plays Normal Monsters; it does not survive cards with scripts.
 * The core lives in a memory of 32 bits inside this library. What it is told is copied there; what it tells is read in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ocg.h"

typedef struct { u32 code, alias; u16 *sets; u32 type, level, attribute; u64 race; s32 attack, defense; u32 left, right, markers; } Card;
typedef struct { u32 points, opening, draws; } Player;
typedef struct {
    u64 seed[4], flags;
    Player teams[2];
    void (*card_reader)(void *, u32, Card *); void *payload1;
    int (*script_reader)(void *, void *, const char *); void *payload2;
    void (*log_handler)(void *, const char *, int); void *payload3;
    void (*card_reader_done)(void *, Card *); void *payload4;
    u8 unsafe;
} Options;

static Z_ocg_instance_t core;
static int awake;
static u32 scratch;
/* The core hands back the number that it was given as payload: which of these spoke. */
static Options kept[4096];
static u32 duels[4096];

static u8 *at(u32 place) { return Z_ocgZ_memory(&core)->data + place; }
static u32 word(u32 place) { u32 value; memcpy(&value, at(place), 4); return value; }
static u32 put(const void *bytes, u32 size, u32 offset) { memcpy(at(scratch + offset), bytes, size); return scratch + offset; }

static void wake(void) {
    if (awake) return;
    awake = 1;
    wasm_rt_init();
    Z_ocg_init_module();
    Z_ocg_instantiate(&core, NULL, NULL);
    Z_ocgZ___wasm_call_ctors(&core);
    scratch = Z_ocgZ_malloc(&core, 65536);
}

void OCG_GetVersion(int *major, int *minor) {
    wake();
    Z_ocgZ_ocgapiGetVersion(&core, scratch, scratch + 4);
    *major = (int)word(scratch);
    *minor = (int)word(scratch + 4);
}

int OCG_CreateDuel(void **duel, const Options *options) {
    u8 told[104] = {0};
    u32 number = 1;
    wake();
    while (number < 4096 && duels[number]) number++;
    if (number == 4096) return 1;
    kept[number] = *options;
    memcpy(told, options, 64);
    for (int place = 64; place < 96; place += 4) memcpy(told + place, &number, 4);
    int status = (int)Z_ocgZ_ocgapiCreateDuel(&core, scratch + 256, put(told, sizeof told, 0));
    duels[number] = word(scratch + 256);
    *duel = (void *)(size_t)duels[number];
    return status;
}

void OCG_DestroyDuel(void *duel) {
    for (u32 number = 1; number < 4096; number++) if (duels[number] == (u32)(size_t)duel) duels[number] = 0;
    Z_ocgZ_ocgapiDestroyDuel(&core, (u32)(size_t)duel);
}

void OCG_DuelNewCard(void *duel, const void *card) { Z_ocgZ_ocgapiDuelNewCard(&core, (u32)(size_t)duel, put(card, 24, 0)); }
void OCG_StartDuel(void *duel) { Z_ocgZ_ocgapiStartDuel(&core, (u32)(size_t)duel); }
int OCG_DuelProcess(void *duel) { return (int)Z_ocgZ_ocgapiDuelProcess(&core, (u32)(size_t)duel); }
void *OCG_DuelGetMessage(void *duel, u32 *length) {
    u32 start = Z_ocgZ_ocgapiDuelGetMessage(&core, (u32)(size_t)duel, scratch);
    *length = word(scratch);
    return at(start);
}
void OCG_DuelSetResponse(void *duel, const void *answer, u32 length) {
    Z_ocgZ_ocgapiDuelSetResponse(&core, (u32)(size_t)duel, put(answer, length, 0), length);
}
int OCG_LoadScript(void *duel, const char *text, u32 length, const char *name) {
    u32 size = (u32)strlen(name) + 1, copy = Z_ocgZ_malloc(&core, length + 1 + size);
    memcpy(at(copy), text, length);
    at(copy)[length] = 0;
    memcpy(at(copy + length + 1), name, size);
    int right = (int)Z_ocgZ_ocgapiLoadScript(&core, (u32)(size_t)duel, copy, length, copy + length + 1);
    Z_ocgZ_free(&core, copy);
    return right;
}
void *OCG_DuelQueryLocation(void *duel, u32 *length, const void *query) {
    u32 start = Z_ocgZ_ocgapiDuelQueryLocation(&core, (u32)(size_t)duel, scratch, put(query, 20, 64));
    *length = word(scratch);
    return at(start);
}
void *OCG_DuelQueryField(void *duel, u32 *length) {
    u32 start = Z_ocgZ_ocgapiDuelQueryField(&core, (u32)(size_t)duel, scratch);
    *length = word(scratch);
    return at(start);
}

/* What the core asks of its host. */
void Z_envZ___asyncjs__ocgapiHandleDataReader(struct Z_env_instance_t *e, u32 number, u32 code, u32 place) {
    Card card;
    u32 count = 0, sets;
    memset(&card, 0, sizeof card);
    kept[number].card_reader(kept[number].payload1, code, &card);
    while (card.sets && card.sets[count]) count++;
    sets = Z_ocgZ_malloc(&core, 2 * count + 2);
    if (count) memcpy(at(sets), card.sets, 2 * count);
    memset(at(sets + 2 * count), 0, 2);
    memcpy(at(place), &card.code, 8);
    memcpy(at(place + 8), &sets, 4);
    memcpy(at(place + 12), &card.type, 12);
    memcpy(at(place + 24), &card.race, 28);
}
u32 Z_envZ___asyncjs__ocgapiHandleScriptReader(struct Z_env_instance_t *e, u32 number, u32 duel, u32 name) {
    char copy[256];
    strncpy(copy, (char *)at(name), sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    return (u32)kept[number].script_reader(kept[number].payload2, (void *)(size_t)duel, copy);
}
void Z_envZ_ocgapiHandleLogHandler(struct Z_env_instance_t *e, u32 number, u32 text, u32 kind) {
    kept[number].log_handler(kept[number].payload3, (char *)at(text), (int)kind);
}
void Z_envZ___assert_fail(struct Z_env_instance_t *e, u32 a, u32 b, u32 c, u32 d) { abort(); }
void Z_envZ__abort_js(struct Z_env_instance_t *e) { abort(); }
f64 Z_envZ_emscripten_date_now(struct Z_env_instance_t *e) { return 1000.0 * (f64)time(NULL); }
u32 Z_envZ_emscripten_resize_heap(struct Z_env_instance_t *e, u32 size) {
    wasm_rt_memory_t *memory = Z_ocgZ_memory(&core);
    u32 more = (u32)((size - memory->size + 65535) / 65536), chunk = memory->pages / 4;
    return wasm_rt_grow_memory(memory, more > chunk ? more : chunk) != (u32)-1 || wasm_rt_grow_memory(memory, more) != (u32)-1;
}
u32 Z_envZ___syscall_dup3(struct Z_env_instance_t *e, u32 a, u32 b, u32 c) { return 0; }
u32 Z_envZ___syscall_fcntl64(struct Z_env_instance_t *e, u32 a, u32 b, u32 c) { return 0; }
u32 Z_envZ___syscall_ioctl(struct Z_env_instance_t *e, u32 a, u32 b, u32 c) { return 0; }
u32 Z_envZ___syscall_openat(struct Z_env_instance_t *e, u32 a, u32 b, u32 c, u32 d) { return 0; }
u32 Z_envZ___syscall_unlinkat(struct Z_env_instance_t *e, u32 a, u32 b, u32 c) { return 0; }
u32 Z_wasi_snapshot_preview1Z_clock_time_get(struct Z_wasi_snapshot_preview1_instance_t *e, u32 a, u64 b, u32 place) {
    struct timespec now;
    clock_gettime(a ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now);
    u64 value = (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
    memcpy(at(place), &value, 8);
    return 0;
}
u32 Z_wasi_snapshot_preview1Z_fd_close(struct Z_wasi_snapshot_preview1_instance_t *e, u32 a) { return 52; }
u32 Z_wasi_snapshot_preview1Z_fd_read(struct Z_wasi_snapshot_preview1_instance_t *e, u32 a, u32 b, u32 c, u32 d) { return 52; }
u32 Z_wasi_snapshot_preview1Z_fd_seek(struct Z_wasi_snapshot_preview1_instance_t *e, u32 a, u64 b, u32 c, u32 d) { return 70; }
u32 Z_wasi_snapshot_preview1Z_fd_write(struct Z_wasi_snapshot_preview1_instance_t *e, u32 a, u32 b, u32 c, u32 place) {
    u32 all = 0;
    for (u32 k = 0; k < c; k++) all += word(b + 8 * k + 4);
    memcpy(at(place), &all, 4);
    return 0;
}
