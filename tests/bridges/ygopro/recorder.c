/* A stub of the core's C interface: it logs its calls, and returns results from a recording.
 *
 * OCGCORE_LOG is the file of the log, OCGCORE_TAPE that of the recording: frames of one byte (P a status, M messages, Q a query
 * result), a u32 length and the content, in the order of the calls. Compiler flags set the version and omit one function. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MAJOR
#define MAJOR 11
#endif

typedef struct { uint32_t code, alias; uint16_t *sets; uint32_t type, level, attribute; uint64_t race; int32_t attack, defense;
                 uint32_t left, right, markers; } Card;
typedef struct { uint32_t points, opening, draws; } Player;
typedef struct {
    uint64_t seed[4], flags;
    Player teams[2];
    void (*card_reader)(void *, uint32_t, Card *); void *payload1;
    int (*script_reader)(void *, void *, const char *); void *payload2;
    void (*log_handler)(void *, const char *, int); void *payload3;
    void (*card_reader_done)(void *, Card *); void *payload4;
    uint8_t unsafe;
} Options;
typedef struct { uint8_t team, duelist; uint32_t code; uint8_t controller; uint32_t location, sequence, position; } NewCard;
typedef struct { uint32_t flags; uint8_t controller; uint32_t location, sequence, below; } Query;

static FILE *log_file, *tape;
static Options saved;
static uint8_t content[1 << 20];

static uint32_t next_frame(char kind) {
    uint8_t head[5];
    uint32_t length = 0;
    if (!tape || fread(head, 1, 5, tape) != 5) { fprintf(log_file, "the tape has ended\n"); return 0; }
    memcpy(&length, head + 1, 4);
    if (head[0] != kind) fprintf(log_file, "expected %c, the tape has %c\n", kind, head[0]);
    return (uint32_t)fread(content, 1, length, tape);
}

void OCG_GetVersion(int *major, int *minor) { *major = MAJOR; *minor = 0; }

int OCG_CreateDuel(void **duel, const Options *options) {
    const char *path = getenv("OCGCORE_TAPE");
    log_file = fopen(getenv("OCGCORE_LOG"), "w");
    tape = path ? fopen(path, "rb") : NULL;
    saved = *options;
    fprintf(log_file, "create %llu %llu %llu %llu flags %llx", (unsigned long long)saved.seed[0], (unsigned long long)saved.seed[1],
            (unsigned long long)saved.seed[2], (unsigned long long)saved.seed[3], (unsigned long long)saved.flags);
    for (int team = 0; team < 2; team++)
        fprintf(log_file, " team %u %u %u", saved.teams[team].points, saved.teams[team].opening, saved.teams[team].draws);
    fprintf(log_file, "\n");
    *duel = &saved;
    return 0;
}

void OCG_DuelNewCard(void *duel, const NewCard *card) {
    Card data;
    char name[32];
    memset(&data, 0, sizeof data);
    saved.card_reader(saved.payload1, card->code, &data);
    snprintf(name, sizeof name, "c%u.lua", card->code);
    int script = saved.script_reader(saved.payload2, duel, name);
    fprintf(log_file, "card %u %u %u at %u %u %u %u: %u %x %u %u %llu %d %d %u %u %u sets", card->team, card->duelist, card->code,
            card->controller, card->location, card->sequence, card->position, data.alias, data.type, data.level, data.attribute,
            (unsigned long long)data.race, data.attack, data.defense, data.left, data.right, data.markers);
    for (uint16_t *set = data.sets; set && *set; set++) fprintf(log_file, " %u", *set);
    fprintf(log_file, " script %d\n", script);
    if (data.code == 0) saved.log_handler(saved.payload3, "an unknown card", 0);
}

void OCG_StartDuel(void *duel) { fprintf(log_file, "start\n"); fflush(log_file); }
int OCG_LoadScript(void *duel, const char *text, uint32_t length, const char *name) {
    fprintf(log_file, "load %s (%u bytes)\n", name, length);
    return strncmp(text, "error", 5) != 0;
}

int OCG_DuelProcess(void *duel) { return next_frame('P') ? content[0] : 0; }
void *OCG_DuelGetMessage(void *duel, uint32_t *length) { *length = next_frame('M'); return content; }
void *OCG_DuelQueryField(void *duel, uint32_t *length) { *length = next_frame('Q'); return content; }
void *OCG_DuelQueryLocation(void *duel, uint32_t *length, const Query *query) {
    fprintf(log_file, "query %u %u %x\n", query->controller, query->location, query->flags);
    *length = next_frame('Q');
    return content;
}
void OCG_DuelSetResponse(void *duel, const void *answer, uint32_t length) {
    fprintf(log_file, "answer");
    for (uint32_t place = 0; place < length; place++) fprintf(log_file, " %02x", ((const uint8_t *)answer)[place]);
    fprintf(log_file, "\n");
}
#ifndef WITHOUT_DESTROY
void OCG_DestroyDuel(void *duel) { fprintf(log_file, "destroy\n"); fclose(log_file); if (tape) fclose(tape); tape = NULL; }
#endif
