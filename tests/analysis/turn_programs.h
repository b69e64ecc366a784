#pragma once
// Programs that wait first in their steps and work then: pipelines, sweeps, masters with workers, tokens that go round.

#include <random>
#include <vector>

#include "tests/analysis/message_program.h"

namespace idlewave::analysis {

using wire::Nanoseconds;
using wire::Rank;

inline MessageProgram::Call work() { return {MessageProgram::Call::Kind::kWork, 0}; }
inline MessageProgram::Call send_to(Rank peer) { return {MessageProgram::Call::Kind::kSend, peer}; }
inline MessageProgram::Call meet() { return {MessageProgram::Call::Kind::kMeet, 0}; }
inline MessageProgram::Call receive_from(Rank peer) { return {MessageProgram::Call::Kind::kReceive, peer}; }

/// Nanoseconds.
inline constexpr double kWork = 10e6;

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(engine_); }
  double share(double most) { return std::uniform_real_distribution<>(0, most)(engine_); }

 private:
  std::mt19937 engine_;
};

/// Each part of a rank's work lasts as long as kWork, and up to `noise` of that more.
void fill_work(MessageProgram& program, int steps, double noise, Dice& dice);

MessageProgram pipeline(Rank ranks, bool there_and_back);
/// Over a grid, from one corner after the other: so many. The second sweep goes back the way of the first.
MessageProgram sweeps(int width, int height, int corners);
/// Sweeps over a grid from its corners, one octant after the other in some order, each in so many blocks of `work`, and between
/// them, now and then, and at the end a meeting of all. Calls say with whom they were.
MessageProgram octants(int width, int height, int blocks, Dice& dice);
/// Rank 0 works a little, and hands out what the others work at.
MessageProgram master_and_workers(Rank ranks);
MessageProgram token(Rank ranks);
/// From rank 0 to all, by way of others.
MessageProgram tree(Rank ranks);
/// The last rank does what the first did, and so on. Before work is filled in.
MessageProgram turned_round(const MessageProgram& program);

struct Delay {
  Rank rank = 0;
  int step = 0;
  Nanoseconds length{};
};
MessageProgram delayed(MessageProgram program, const Delay& delay);
Delay any_delay(const MessageProgram& program, Dice& dice);

/// Who ends a step later because of the delay, by a tenth of one, and was not late before.
int true_reach(const MessageProgram& program, const Delay& delay);

}  // namespace idlewave::analysis
