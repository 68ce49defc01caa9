/*
 * The load generator's hand-off: arrivals to clients, and what clients count to the intervals.
 *
 * Property: whenever the step is stopped, each arrival is served by one client, or censored; each
 * operation is counted once, in the interval it ended in, and no interval is emitted before it has
 * all of its operations; neither clients nor coordinator wait for ever.
 *
 * Models crates/drive/load: schedule/shared.rs (take), client/meter.rs (hand_over, finish), handoff.rs,
 * collector.rs and client_pool/coordinator.rs. Left out: the barrier before the start, writers, panics,
 * the limit on the memory of intervals that wait, and parts of an interval that has not ended.
 *
 * Seeded bug (BUG): arrivals are taken without the lock.
 */
#define CLIENTS 2
#define WAITING 1 /* fewer than in handoff.rs, so that the queue is full at times */
#define ARRIVALS 4
#define INTERVALS 2
#define NONE INTERVALS /* no interval: nothing more will come */

byte taken;
bool is_served[ARRIVALS];
bool stop;
/* The interval that the clock is in. */
byte interval;
/* By interval: operations that ended in it, and those merged into it. */
byte ended[INTERVALS];
byte merged[INTERVALS];
/* By client: the first interval of which more may come. */
byte next[CLIENTS];
/* The first interval that is not emitted. */
byte first;
/* The lock of the collector. */
bool locked;

/* Client, interval, operations in it, and the first interval of which more may come. */
chan parts = [WAITING] of { byte, byte, byte, byte };
/* Whether the client took an arrival and did not serve it. */
chan exits = [CLIENTS] of { bool };

inline merge(who, index, count, later) {
    assert(index >= first);
    merged[index] = merged[index] + count;
    next[who] = later
}

inline merge_waiting() {
    do
    :: atomic {
           parts ? who, index, count, later -> merge(who, index, count, later);
           who = 0; index = 0; count = 0; later = 0
       }
    :: empty(parts) -> break
    od
}

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

/* Merges what waits and its own part, unless another has the lock: then it puts its part in the
   queue, and waits for the lock where the queue is full. */
inline hand_over(after) {
    if
    :: atomic { !locked -> locked = true };
       merge_waiting();
       merge(me, own, counted, after);
       unlock()
    :: locked ->
       if
       :: atomic { nfull(parts) -> parts ! me, own, counted, after }
       :: full(parts) ->
          lock();
          merge_waiting();
          merge(me, own, counted, after);
          unlock()
       fi
    fi;
    counted = 0
}

proctype client(byte me) {
    /* The interval it is in, and the operations it has counted there. */
    byte own, counted, arrival, at;
    byte who, index, count, later;
    bool is_unserved;
    do
    :: stop -> break
    :: else ->
       /* The next arrival, under the lock. */
#ifdef BUG
       arrival = taken;
       if :: arrival < ARRIVALS -> taken = arrival + 1 :: else -> break fi;
#else
       atomic { arrival = taken; if :: arrival < ARRIVALS -> taken++ :: else -> break fi };
#endif
       /* It waits until the arrival is due; a stop may come first. */
       if :: stop -> is_unserved = true; break :: true fi;
       assert(!is_served[arrival]);
       d_step { is_served[arrival] = true; at = interval; ended[at]++ };
       /* Here it may be without a CPU for any number of intervals. */
       if
       :: at > own -> hand_over(at); own = at
       :: else
       fi;
       counted++
    od;
    hand_over(NONE);
    exits ! is_unserved
}

active proctype coordinator() {
    byte who, index, count, later, running = CLIENTS, censored;
    bool is_unserved;
    atomic {
        for (who : 0 .. CLIENTS - 1) { run client(who) }
    }
    do
    :: running == 0 -> break
    :: running > 0 && !stop -> stop = true
    :: interval < INTERVALS - 1 -> interval++
    :: first < interval ->
       lock();
       merge_waiting();
       if
       :: next[0] > first && next[1] > first ->
          assert(merged[first] == ended[first]);
          first++
       :: else
       fi;
       unlock()
    :: exits ? is_unserved -> running--; censored = censored + is_unserved
    od;
    lock();
    merge_waiting();
    unlock();
    count = 0;
    for (index : 0 .. INTERVALS - 1) {
        assert(merged[index] == ended[index]);
        count = count + merged[index]
    }
    assert(count + censored + (ARRIVALS - taken) == ARRIVALS)
}
