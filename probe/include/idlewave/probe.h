/* idlewave/probe.h: what a program says about itself so that idlewave can show it. C99; usable from C++ and, through
 * probe/fortran/idlewave.f90, from Fortran. Link with libidlewave-probe. Does not need MPI.
 *
 *   idlewave_start(rank, size);
 *   for (k = 0; k < steps; ++k) {
 *     idlewave_step(k);
 *     idlewave_switch(IDLEWAVE_COMPUTE);  idlewave_traffic(3 * n * sizeof(double));  triad(...);
 *     idlewave_switch(IDLEWAVE_WAIT);     idlewave_partners(0, from, 2, to, 2, 0);  MPI_Waitall(...);
 *   }
 *   idlewave_stop();
 *
 * Threads: the rank is what the thread that called idlewave_start says of it. Of another thread idlewave_begin, _end and
 * _switch are shown on a lane of its own (16 of a rank at a time); its other calls do nothing. A fork()ed child does not
 * report.
 * Errors: none reach the program. Without a session (IDLEWAVE_SESSION unset, IDLEWAVE_DISABLE=1, or no agent could be
 * started) every call is one branch. When the agent can't keep up, events are counted as dropped, and the count is
 * reported where it happened.
 * Cost: after start, no thread, lock, allocation or system call, apart from a delay that an operator ordered.
 * Units: bytes; seconds and bytes per second as double. Times are taken by the probe itself. */
#ifndef IDLEWAVE_PROBE_H
#define IDLEWAVE_PROBE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a rank is doing. The values are part of the wire format. */
typedef enum idlewave_phase {
  IDLEWAVE_NONE = 0,
  IDLEWAVE_COMPUTE = 1,     /* work; counts as active on its memory domain */
  IDLEWAVE_WAIT = 2,        /* blocked until a partner is ready */
  IDLEWAVE_COMMUNICATE = 3, /* moving data */
  IDLEWAVE_DELAY = 4        /* held on purpose, e.g. a delay from the program's own command line */
} idlewave_phase;

/* Joins the session named by IDLEWAVE_SESSION as `rank` of `size`; the first rank on a node has its agent started.
 * Takes milliseconds; at most 5 s when an agent does not answer, and then the probe stays off. Returns 1 if the rank now
 * reports, else 0. Call it once, after MPI_Init; a second call does nothing. */
int idlewave_start(int rank, int size);

/* Leaves the session; what was reported before is kept by the agent. Also called at exit of a program that forgot it. */
void idlewave_stop(void);

/* A name of the program's own for work (`category` IDLEWAVE_COMPUTE), waiting or communication; at most 31 bytes, at
 * most 56 names. The result is a phase for the calls below; `category` itself if there is no room. The same name gives
 * the same phase. */
int idlewave_define_phase(const char *name, int category);

/* Tells on which memory domain this rank runs, instead of letting the agent find out from its pinning. `is_virtual`: 1
 * for a virtual socket. Bandwidths of one process and of the saturated domain in bytes/s; 0 if not known. */
void idlewave_set_domain(int domain, int is_virtual, double core_bandwidth, double saturated_bandwidth);

/* After idlewave_set_domain, where more is known of the domain's bandwidth than its two figures: b(1), b(2), ... of 1,
 * 2, ... processes that work at the same time, in bytes/s. At most 128 points are taken. */
void idlewave_domain_curve(const double *bandwidths, int points);

/* Virtual sockets only: bytes that the model has moved on this rank's domain since it was made, until now. */
void idlewave_domain_bytes(uint64_t total);

/* What is special about a wait; see idlewave_partners. */
enum {
  IDLEWAVE_RENDEZVOUS = 1, /* its sends end only when their receivers are there: large messages, MPI_Ssend */
  IDLEWAVE_COLLECTIVE = 2, /* nobody of a group goes on before all of it have come: MPI_Allreduce, MPI_Barrier */
  IDLEWAVE_UNCERTAIN = 4   /* its sends may do so, and it does not know; with IDLEWAVE_RENDEZVOUS they go to ranks that
                            * it receives from as well, so that it waits for them in either case */
};

/* Seconds on the clock of the events; 0 without a session. */
double idlewave_now(void);

/* The hot path. begin/end nest to 8 levels (deeper ones are not recorded); switch replaces the innermost phase, or
 * begins one. Steps are numbered from 0 or above: a negative number begins none. */
static inline void idlewave_begin(int phase);
static inline void idlewave_end(void);
static inline void idlewave_switch(int phase);
static inline void idlewave_step(int64_t step);      /* step `step` begins; an ordered delay is obeyed here */
static inline void idlewave_traffic(uint64_t bytes); /* the phase that runs now moves `bytes` to and from memory */
static inline void idlewave_threads(int active);     /* so many threads of this rank work from now on */

/* Whom the next wait depends on: it receives from the ranks `from` (`sources` of them) and sends to the ranks `to`
 * (`targets`), as ranks of MPI_COMM_WORLD. Call it for each wait of a step, in their order: once where all that is
 * awaited is awaited together, once for each wait where there are several. `flags`: 0, or those of the enumeration above.
 * Of a collective `from` is the group, with or without this rank; with `sources` 0 it is all ranks; `to` is not looked at.
 * A collective with a root is told by whom its waits depend on: in a broadcast all but the root receive from the root.
 * Negative ranks (MPI_PROC_NULL) are left out; NULL stands for none.
 *
 * `pattern` is a number of the program's own, 0 to 63, for these partners: the first call with it defines them, later
 * ones only say that it is them again, and take nanoseconds. A rank whose steps repeat, or come in a cycle of up to 64
 * steps, sends nothing more. Partners that change need a new number. What does not fit (another number, more than 4096
 * ranks in all patterns) is not told, and partners are inferred from what was seen, as for a rank that never calls this. */
static inline void idlewave_partners(int pattern, const int *from, int sources, const int *to, int targets, int flags);

/* A message of `bytes` that this rank sends to the rank `receiver` of MPI_COMM_WORLD: summed up, for the monitor's table
 * of messages from rank to rank and of those that leave the socket or the node. A negative rank (MPI_PROC_NULL) is no
 * message. Tell those that the program sends point to point. */
static inline void idlewave_message(int receiver, uint64_t bytes);

/* The switched-off test is inlined, so that it costs one branch; the rest is a call. C and C++ programs use the calls
 * above; the functions with an underscore are the same calls for languages that link to symbols (Fortran's bind(C),
 * Python's ctypes), and test for themselves. */
extern int idlewave_is_on_; /* not part of the interface */
void idlewave_begin_(int phase);
void idlewave_end_(void);
void idlewave_switch_(int phase);
void idlewave_step_(int64_t step);
void idlewave_traffic_(uint64_t bytes);
void idlewave_threads_(int active);
void idlewave_partners_(int pattern, const int *from, int sources, const int *to, int targets, int flags);
void idlewave_message_(int receiver, uint64_t bytes);

/* One load; another thread may be stopping it. */
static inline int idlewave_reports_(void) { return __atomic_load_n(&idlewave_is_on_, __ATOMIC_RELAXED); }

static inline void idlewave_begin(int phase) {
  if (idlewave_reports_()) idlewave_begin_(phase);
}
static inline void idlewave_end(void) {
  if (idlewave_reports_()) idlewave_end_();
}
static inline void idlewave_switch(int phase) {
  if (idlewave_reports_()) idlewave_switch_(phase);
}
static inline void idlewave_step(int64_t step) {
  if (idlewave_reports_()) idlewave_step_(step);
}
static inline void idlewave_traffic(uint64_t bytes) {
  if (idlewave_reports_()) idlewave_traffic_(bytes);
}
static inline void idlewave_threads(int active) {
  if (idlewave_reports_()) idlewave_threads_(active);
}
static inline void idlewave_partners(int pattern, const int *from, int sources, const int *to, int targets, int flags) {
  if (idlewave_reports_()) idlewave_partners_(pattern, from, sources, to, targets, flags);
}
static inline void idlewave_message(int receiver, uint64_t bytes) {
  if (idlewave_reports_()) idlewave_message_(receiver, bytes);
}

#ifdef __cplusplus
}
#endif
#endif
