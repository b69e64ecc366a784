// A rank for the tests of the agent: joins by the real probe, does what its first argument names, and obeys its
// standard input: it goes on at each line, and leaves at its end.
//
//   played_rank BEHAVIOUR RANK SIZE [NUMBER...]       prints 1 when it has joined, 0 when it could not

#include <idlewave/probe.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace {

bool wait_for_line() {
  for (char c = 0; read(STDIN_FILENO, &c, 1) == 1;) {
    if (c == '\n') return true;
  }
  return false;
}

/// `count` numbered traffic events in random phases at a random pace.
void count_up(unsigned long count, unsigned seed) {
  std::mt19937 random(seed);
  for (unsigned long i = 1; i <= count; ++i) {
    if (random() % 3 == 0) idlewave_switch(random() % 2 != 0 ? IDLEWAVE_COMPUTE : IDLEWAVE_WAIT);
    idlewave_traffic(i);
    if (random() % 2000 == 0) usleep(random() % 3000);
  }
}

/// As one of a ring, if it is of several ranks.
void step_until_told(int rank, int size) {
  const int neighbours[] = {(rank + 1) % size, (rank + size - 1) % size};
  usleep(1000);
  for (long step = 0;; ++step) {
    idlewave_step(step);
    idlewave_switch(IDLEWAVE_COMPUTE);
    usleep(500);
    idlewave_switch(IDLEWAVE_WAIT);
    if (size > 1) idlewave_partners(rank, neighbours, 2, neighbours, 2, IDLEWAVE_RENDEZVOUS);
    fd_set input;
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    timeval no_time{0, 500};
    if (select(1, &input, nullptr, nullptr, &no_time) > 0) return;
  }
}

/// In a ring, to one side and, from each line of input on, to the other; ranks begin by turns with either. At its end it has gone
/// twenty steps more.
void turn_when_told(int rank, int size) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  long step = 0;
  for (int turns = rank;; ++turns) {
    for (bool is_told = false; !is_told;) {
      for (int i = 0; i < 20; ++i) {
        idlewave_step(step++);
        idlewave_switch(IDLEWAVE_COMPUTE);
        usleep(300);
        idlewave_switch(IDLEWAVE_WAIT);
        const bool to_left = turns % 2 != 0;
        idlewave_partners(to_left, to_left ? &right : &left, 1, to_left ? &left : &right, 1, 0);
      }
      fd_set input;
      FD_ZERO(&input);
      FD_SET(STDIN_FILENO, &input);
      timeval no_time{0, 0};
      is_told = select(1, &input, nullptr, nullptr, &no_time) > 0;
    }
    if (!wait_for_line()) return;
  }
}

void compute_on_virtual_socket(int domain) {
  idlewave_set_domain(domain, 1, 10e9, 50e9);
  constexpr double kCurve[] = {10e9, 18e9, 50e9};
  idlewave_domain_curve(kCurve, 3);
  for (unsigned long total = 0; total < 100'000'000'000; total += 10'000'000) {
    idlewave_domain_bytes(total);
    usleep(1000);
  }
}

/// Domain, whether it is virtual, b(1) and b_sat in GB/s.
void say_domain(char** numbers) {
  idlewave_set_domain(std::atoi(numbers[0]), std::atoi(numbers[1]), 1e9 * std::atof(numbers[2]),
                      1e9 * std::atof(numbers[3]));
}

void name_phases(const char* first, const char* second) {
  idlewave_define_phase(first, IDLEWAVE_COMPUTE);
  const int phase = idlewave_define_phase(second, IDLEWAVE_COMPUTE);
  idlewave_switch(phase);
  idlewave_traffic(1);
}

/// As an MPI program does: 10,000 events a second.
void work_steadily(int milliseconds) {
  idlewave_set_domain(0, 1, 10e9, 50e9);
  for (int i = 0; i < milliseconds; ++i) {
    idlewave_step(i);
    for (int k = 0; k < 4; ++k) {
      idlewave_switch(IDLEWAVE_COMPUTE);
      idlewave_switch(IDLEWAVE_WAIT);
    }
    usleep(900);
  }
}

/// The same process, and the same rank, of whose past it knows nothing.
int become(char** argv) {
  char* words[] = {argv[0], argv[4], argv[2], argv[3], argv[5], argv[6], nullptr};
  return execv(argv[0], words);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* behaviour = argv[1];
  const bool joined = idlewave_start(std::atoi(argv[2]), std::atoi(argv[3])) != 0;
  std::printf("%d\n", joined ? 1 : 0);
  std::fflush(stdout);
  if (std::strcmp(behaviour, "become") == 0) return become(argv);
  if (std::strcmp(behaviour, "count") == 0) count_up(std::strtoul(argv[4], nullptr, 10), unsigned(std::atoi(argv[5])));
  if (std::strcmp(behaviour, "step") == 0) step_until_told(std::atoi(argv[2]), std::atoi(argv[3]));
  if (std::strcmp(behaviour, "turn") == 0) turn_when_told(std::atoi(argv[2]), std::atoi(argv[3]));
  if (std::strcmp(behaviour, "virtual") == 0) compute_on_virtual_socket(std::atoi(argv[4]));
  if (std::strcmp(behaviour, "domain") == 0) say_domain(argv + 4);
  if (std::strcmp(behaviour, "name") == 0) name_phases(argv[4], argv[5]);
  if (std::strcmp(behaviour, "work") == 0) work_steadily(std::atoi(argv[4]));
  std::printf("done\n");
  std::fflush(stdout);
  while (wait_for_line()) continue;
  idlewave_stop();
  return 0;
}
