/*
 * InnoDB's read-write lock: one word, two events, a flag for those who wait.
 *
 * Property: while a writer is in, no other thread is; and no thread sleeps for ever.
 *
 * The example of [Callaghan 2022-09-14]: a model helped to convince InnoDB's developers. This one is
 * written afresh, after the protocol in sync0rw of [MySQL source]: a reader takes 1 from the word and
 * a writer FREE, both only from a word above 0. So a writer that comes while readers are in leaves a
 * word below 0, which keeps others out, and waits until the last reader brings it to 0. Left out:
 * recursive locks, spinning, and memory orders (SPIN's are sequentially consistent).
 *
 * Seeded bug (BUG): a thread sleeps without another try after it raised the flag. A writer that left
 * in between saw no flag and wakes nobody.
 */
#define READERS 2
#define WRITERS 2
#define ROUNDS 1 /* two are 81 million states: they hold too */
#define FREE 8 /* more than there are readers */

int word = FREE;
bool waiters;
byte reading, writing;

/* An event: a reset takes its number, a signal moves the number on. */
typedef Event { bool is_set; byte signals };
Event left;   /* a writer has left, and the flag was up */
Event drained; /* the last reader has left, and a writer waits */

inline reset(event) { atomic { event.is_set = false; seen = event.signals } }
inline signal(event) { atomic { event.is_set = true; event.signals++ } }
inline sleep(event) { event.is_set || event.signals != seen }

/* A compare-and-swap loop, as the one step in which it succeeds or finds no room. */
inline lower(amount) {
    atomic { got = word > 0; if :: got -> word = word - amount :: else fi }
}

inline acquire(amount) {
    do
    :: lower(amount);
       if :: got -> break :: else fi;
       reset(left);
       waiters = true;
#ifndef BUG
       lower(amount);
       if :: got -> break :: else fi;
#endif
       sleep(left)
    od
}

active [READERS] proctype reader() {
    byte seen, round;
    bool got, is_last;
    for (round : 1 .. ROUNDS) {
        acquire(1);
        reading++;
        assert(writing == 0);
        reading--;
        atomic { word++; is_last = (word == 0) }
        if :: is_last -> signal(drained) :: else fi
    }
}

active [WRITERS] proctype writer() {
    byte seen, round;
    bool got;
    for (round : 1 .. ROUNDS) {
        acquire(FREE);
        do
        :: word == 0 -> break
        :: else -> reset(drained); if :: word < 0 -> sleep(drained) :: else fi
        od;
        writing++;
        assert(writing == 1 && reading == 0);
        writing--;
        word = word + FREE;
        if :: waiters -> waiters = false; signal(left) :: else fi
    }
}
