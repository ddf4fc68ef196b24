#ifndef XPTO_HOST_TABLE_H
#define XPTO_HOST_TABLE_H
/* What a kernel compiled for the host and the process that runs it know of each other. C only: the kernel is compiled by the user's
   compiler, the process by ours. One shared library holds one core kind; a thread plays one core. */
#include <stddef.h>
#include <stdint.h>

#define XPTO_HOST_TABLE_VERSION 4
#define XPTO_SSBUF_BYTES 65536

typedef struct XptoCore XptoCore;

/* Services of the process. Every call is made on the thread that plays `core`. A wait that can never end does not return: the
   process reports the hang and ends. */
typedef struct XptoHostTable {
    int32_t version;
    void (*cross_set)(XptoCore* core, int32_t id);  /* cube: id addresses vector core 0, id + 16 vector core 1 */
    void (*cross_wait)(XptoCore* core, int32_t id);
    void (*group_set)(XptoCore* core, int32_t mode, int32_t id); /* 0: this core kind in every block, 1: the vector cores of the block */
    void (*group_wait)(XptoCore* core, int32_t id);
    void (*sync_all)(XptoCore* core, int32_t kind);              /* 0 mix, 1 vector cores, 2 cube cores */
    void (*write)(XptoCore* core, const char* text, size_t length);
    /* The simulator's own lane functions, so that registers mean the same in both. Null where the process has none; names are those of
       the operations ("add", "exp_sub"), types those of the language ("fp32"). */
    const void* (*lane)(int32_t arity, const char* function, const char* type); /* 1: (out, a, n) 2: (out, a, b, n) 3: (out, a, b, c, n), one rounding 4: compare */
    int32_t (*convert)(const char* from, const void* source, const char* to, void* result, size_t n, const char* rounding, int32_t saturate);
    float (*tree_sum)(const float* values, size_t n);
} XptoHostTable;

struct XptoCore {
    uint32_t block, blocks, subblock, subblocks;
    int32_t is_cube;
    uint32_t index;                 /* among all cores of the launch */
    char *ub, *l1;                  /* set by xpto_prepare: the memories other cores of the block write into */
    char* ssbuf;                    /* of the block, XPTO_SSBUF_BYTES of it */
    XptoCore* peers[3];             /* of the block: cube, vector 0, vector 1; null where there is none */
    const XptoHostTable* table;
    void* owner;
};

/* Exported by a compiled kernel:
     void xpto_prepare(XptoCore*)          makes the core's memories and publishes where they are
     void xpto_run(XptoCore*, void** args) runs the core's program; args[i] points to the i-th value of the entry's parameters */
#endif
