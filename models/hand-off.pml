/*
 * The load generator's hand-off: arrivals to clients, clients' tallies to the coordinator and back.
 *
 * Property: whenever the step is stopped, each arrival is served by one client, or censored; each
 * operation is counted once; no queue overflows, and neither clients nor coordinator wait for ever.
 *
 * Models crates/drive/load: schedule/shared.rs (take), client/meter.rs (hand_over, finish), handoff.rs
 * and client_pool/coordinator.rs. Left out: the barrier before the start, writers, panics.
 *
 * Seeded bug (BUG): arrivals are taken without the lock.
 */
#define CLIENTS 2
#define TALLIES 3 /* as in handoff.rs: one in use, one on its way, one for a late coordinator */
#define ARRIVALS 4

byte taken;
bool is_served[ARRIVALS];
byte executed;
bool stop;

/* By tally: the operations counted in it. */
byte operations[CLIENTS * TALLIES];
/* Client, tally, whether it is its last, and whether it took an arrival and did not serve it. */
chan messages = [CLIENTS * TALLIES] of { byte, byte, bool, bool };
chan spares[CLIENTS] = [TALLIES] of { byte };

inline send(is_last) {
    assert(nfull(messages));
    messages ! me, tally, is_last, is_unserved
}

proctype client(byte me) {
    byte tally, spare, arrival;
    bool is_unserved;
    tally = me * TALLIES;
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
       d_step { is_served[arrival] = true; executed++; operations[tally]++ };
       /* The interval goes on, or ends without a spare: the tally goes on. Or it ends, with a
          spare, or waits for one, where a tally must not go on. */
       if
       :: true
       :: true ->
          spares[me] ? spare;
          send(false);
          tally = spare;
          assert(operations[tally] == 0)
       fi
    od;
    send(true)
}

active proctype coordinator() {
    byte who, tally, running = CLIENTS, counted, censored;
    bool is_last, is_unserved;
    atomic {
        for (who : 0 .. CLIENTS - 1) {
            for (tally : 1 .. TALLIES - 1) { spares[who] ! who * TALLIES + tally }
            run client(who)
        }
    }
    do
    :: running == 0 -> break
    :: running > 0 && !stop -> stop = true
    :: messages ? who, tally, is_last, is_unserved ->
       counted = counted + operations[tally];
       if
       :: is_last -> running--; censored = censored + is_unserved
       :: else ->
          operations[tally] = 0;
          assert(nfull(spares[who]));
          spares[who] ! tally
       fi
    od;
    assert(counted == executed);
    assert(counted + censored + (ARRIVALS - taken) == ARRIVALS)
}
