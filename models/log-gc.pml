/*
 * An index+log engine: garbage collection of a segment races compaction of the index.
 *
 * Property: no document that the index has is lost, none is counted as garbage twice, and once
 * the writer rests, collection by the counters alone leaves no garbage behind.
 *
 * A segment of the log has one document per key. The writer overwrites some: the new version is in
 * another segment, and the index has both tuples. Index compaction drops the older tuple, and in the same
 * manifest record adds the document to the delete list and to the counter of the segment that owns it
 * by then. Collection takes a snapshot of the delete list, copies what is not in it, and swaps the
 * segments in one record: it purges the entries of the snapshot, and the new segment's counter begins
 * with the entries that came meanwhile. It never reads the index. It may fail before its commit.
 *
 * Seeded bug (BUG): the swap purges every entry of the segment, also those later than the snapshot.
 */
#define KEYS 3

bool is_overwritten[KEYS];
bool in_index[KEYS];    /* the tuple of the segment's document */
bool in_delete_list[KEYS];
typedef Segment { bool has[KEYS]; byte deleted };
Segment segments[2];
byte owner;             /* in the manifest: which of them is the segment */
bool rests, is_compacted;

/* Holds after each record of the manifest. */
inline check() {
    garbage = 0;
    for (each : 0 .. KEYS - 1) {
        assert(is_overwritten[each] || in_index[each]);
        assert(!in_index[each] || segments[owner].has[each]);
        garbage = garbage + (segments[owner].has[each] && !in_index[each])
    }
    assert(segments[owner].deleted == garbage)
}

init {
    byte key;
    atomic {
        for (key : 0 .. KEYS - 1) { in_index[key] = true; segments[0].has[key] = true }
        run writer(); run compaction(); run collection()
    }
}

proctype writer() {
    byte key;
    do
    :: rests -> break
    :: !rests -> select(key : 0 .. KEYS - 1); is_overwritten[key] = true
    :: !rests -> rests = true
    od
}

/* One compaction after the other; the last begins when the writer rests. */
proctype compaction() {
    byte key, each, garbage;
    bool drops[KEYS], is_last;
    do
    :: is_compacted -> break
    :: else ->
       is_last = rests;
       for (key : 0 .. KEYS - 1) { drops[key] = is_overwritten[key] && in_index[key] }
       atomic {
           for (key : 0 .. KEYS - 1) {
               if
               :: drops[key] ->
                  assert(!in_delete_list[key]);
                  in_delete_list[key] = true;
                  in_index[key] = false;
                  segments[owner].deleted++
               :: else
               fi
           }
           check();
           is_compacted = is_last
       }
    od
}

proctype collection() {
    byte key, each, garbage, new;
    bool snapshot[KEYS];
    do
    :: segments[owner].deleted > 0 ->
       atomic { new = 1 - owner; for (key : 0 .. KEYS - 1) { snapshot[key] = in_delete_list[key] } }
       for (key : 0 .. KEYS - 1) {
           segments[new].has[key] = segments[owner].has[key] && !snapshot[key]
       }
       if
       :: true /* it failed: what it copied is overwritten by the next */
       :: true ->
          atomic {
              segments[new].deleted = 0;
              for (key : 0 .. KEYS - 1) {
#ifdef BUG
                  in_delete_list[key] = false;
#else
                  in_delete_list[key] = in_delete_list[key] && !snapshot[key];
#endif
                  segments[new].deleted = segments[new].deleted + in_delete_list[key]
              }
              owner = new;
              check()
          }
       fi
    :: is_compacted && segments[owner].deleted == 0 -> break
    od;
    for (key : 0 .. KEYS - 1) { assert(segments[owner].has[key] == !is_overwritten[key]) }
}
