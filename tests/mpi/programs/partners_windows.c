/* Ways of reaching into the memory of others, between whose epochs a rank knows for whom it waits, and says so. */
#include "partners.h"

static MPI_Group group_of(const int* ranks, int count) {
  MPI_Group all, group;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, count, ranks, &group);
  MPI_Group_free(&all);
  return group;
}

/* Both wait for the other to open its window, and then until it has put what it puts there. */
static void put_into(const MPI_Group origins, const MPI_Group targets, const int* ranks, int count, MPI_Win window) {
  int i;
  MPI_Win_post(origins, 0, window);
  MPI_Win_start(targets, 0, window);
  for (i = 0; i < count; ++i) MPI_Put(out, FEW, MPI_CHAR, ranks[i], rank * FEW, FEW, MPI_CHAR, window);
  MPI_Win_complete(window);
}

static void windows_by(int (*end)(MPI_Win)) {
  const int both[2] = {left, right};
  const MPI_Group group = group_of(both, 2);
  MPI_Win window;
  char* memory;
  int i;
  MPI_Win_allocate(size * FEW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (i = 0; i < steps; ++i) {
    work();
    put_into(group, group, both, 2, window);
    end(window);
  }
  MPI_Win_free(&window);
  say_wait(both, 2, both, 2, 0);
  say_wait(both, 2, both, 2, 0);
}

static int ask(MPI_Win window) {
  int there = 0;
  while (!there) MPI_Win_test(window, &there);
  return there;
}

static void windows(void) { windows_by(MPI_Win_wait); }
static void windows_asked(void) { windows_by(ask); }

/* To one side alone. Other groups each time, whose handles may be the same. */
static void windows_of_two(void) {
  MPI_Win window;
  char* memory;
  int i;
  MPI_Win_allocate(size * FEW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (i = 0; i < steps; ++i) {
    const int to = i % 2 ? left : right, from = i % 2 ? right : left;
    MPI_Group origins = group_of(&from, 1), targets = group_of(&to, 1);
    work();
    put_into(origins, targets, &to, 1, window);
    MPI_Win_wait(window);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
  }
  MPI_Win_free(&window);
  say_wait(&right, 1, &left, 1, 0); /* which have opened theirs for us, as we for them */
  say_wait(&left, 1, &right, 1, 0);
  say(";");
  say_wait(&left, 1, &right, 1, 0);
  say_wait(&right, 1, &left, 1, 0);
}

/* Of a world, and of each half of it. */
static void fences(void) {
  const int mine = rank < size / 2, first = mine ? 0 : size / 2, count = mine ? size / 2 : size - size / 2;
  MPI_Comm half;
  MPI_Win whole, part;
  char *memory, *its;
  int i;
  MPI_Comm_split(MPI_COMM_WORLD, mine, rank, &half);
  MPI_Win_allocate(size * FEW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &whole);
  for (i = 0; i < 2; ++i) { /* one half after the other: Open MPI calls what they share by the same name */
    if (i == mine) MPI_Win_allocate(size * FEW, 1, MPI_INFO_NULL, half, &its, &part);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&half);
  MPI_Win_fence(0, whole);
  MPI_Win_fence(0, part);
  for (i = 0; i < steps; ++i) {
    work();
    MPI_Put(out, FEW, MPI_CHAR, right, rank * FEW, FEW, MPI_CHAR, whole);
    MPI_Win_fence(0, whole);
    MPI_Put(out, FEW, MPI_CHAR, 0, (rank - first) * FEW, FEW, MPI_CHAR, part);
    MPI_Win_fence(0, part);
  }
  MPI_Win_free(&part);
  MPI_Win_free(&whole);
  everybody();
  say_wait(all_ranks + first, count, NULL, 0, COLLECTIVE);
}

const struct mode of_windows[] = {{"windows", windows},
                                  {"windows-asked", windows_asked},
                                  {"windows-of-two", windows_of_two},
                                  {"fences", fences},
                                  {NULL, NULL}};
