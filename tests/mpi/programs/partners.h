#ifndef PARTNERS_H
#define PARTNERS_H
/* What the ways share in which ranks of `partners` exchange messages, and how they say for whom they wait. */
#include <mpi.h>
#include <stddef.h>

enum { FEW = 8, SOME = 2000, MANY = 100000, MOST = 3100, RENDEZVOUS = 1, COLLECTIVE = 2, UNCERTAIN = 4 };

struct mode {
  const char* name; /* NULL: no more */
  void (*run)(void);
};
extern const struct mode of_known[], of_late[], of_topology[], of_unknown[], of_windows[];

extern int rank, size, steps, late_rank, left, right, all_ranks[64];
extern char in[16][MANY], out[MANY];

void say(const char* text);
/* One more wait of the step. */
void say_wait(const int* from, int sources, const int* to, int targets, int flags);
void everybody(void);

void work(void);
/* Up to 2 ms, by rand(). */
void work_unevenly(void);
/* To `to`, from `from`, all waited for at once. */
void exchange(MPI_Comm comm, const int* from, const int* to, int count, int bytes);
/* Receives are started first, and sends block. */
void exchange_by_send(const int* with, int count, int bytes);
/* By MPI_Sendrecv round the ring, whose send nobody can look at. */
void shift_up(int bytes);
/* As often as it takes, which is another number in each step. */
void wait_for_some(int count, MPI_Request* requests);
void exchange_with(int other);
/* Nobody has seen what sends of that size do; each goes to whom it is waited for to receive as well. */
void exchange_more_with(int other);
/* A collective by hand, one call in a loop, for as many ranks as there is a power of two. */
void double_up(void);
/* In pairs, the other pairs in the second half of a step. */
int first_of_pairs(void);
int second_of_pairs(void);

#endif
