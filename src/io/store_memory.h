/* A store in memory, for tests and simulations: directories, hard links, rename, exchange, locks,
 * attributes. It keeps two states: the live one, and the one on "stable storage". File data becomes
 * stable by finish (or put); changes of directories are kept in order, and tn_store_sync_dir makes
 * all changes up to the newest that touches that directory stable. tn_store_memory_crash keeps, of
 * the rest, a prefix chosen by `seed` (from none to all), throws away data that was not finished
 * (such files become empty or cut short), and releases all locks. */
#ifndef TN_IO_STORE_MEMORY_H
#define TN_IO_STORE_MEMORY_H

#include "io/store.h"

int tn_store_memory_open(tarn_cx *cx, tn_store **out);
void tn_store_memory_crash(tn_store *store, uint64_t seed);

#endif
