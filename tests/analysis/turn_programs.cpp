#include "tests/analysis/turn_programs.h"

#include <algorithm>
#include <cmath>

namespace idlewave::analysis {
namespace {

using Call = MessageProgram::Call;
using Calls = std::vector<Call>;

}  // namespace

void fill_work(MessageProgram& program, int steps, double noise, Dice& dice) {
  for (const Calls& calls : program.calls) {
    auto& of_rank = program.work.emplace_back();
    for (int step = 0; step < steps; ++step) {
      auto& of_step = of_rank.emplace_back();
      for (const Call& call : calls)
        if (call.kind == Call::Kind::kWork)
          of_step.push_back(Nanoseconds(std::llround(kWork * (1 + dice.share(noise)))));
    }
  }
}

MessageProgram pipeline(Rank ranks, bool there_and_back) {
  MessageProgram program;
  for (Rank rank = 0; rank < ranks; ++rank) {
    Calls calls;
    if (rank > 0) calls.push_back(receive_from(rank - 1));
    calls.push_back(work());
    if (rank + 1 < ranks) calls.push_back(send_to(rank + 1));
    if (there_and_back) {
      if (rank + 1 < ranks) calls.push_back(receive_from(rank + 1));
      calls.push_back(work());
      if (rank > 0) calls.push_back(send_to(rank - 1));
    }
    program.calls.push_back(calls);
  }
  return program;
}

namespace {

/// From the corner of that number, of four: a rank of the grid receives, works and sends.
void add_block(Calls& calls, int width, int height, Rank rank, int corner) {
  const int x = rank % width, y = rank / width, dx = corner % 3 == 0 ? 1 : -1, dy = corner % 2 == 0 ? 1 : -1;
  const auto beside = [&](int by, bool is_across) {
    const int other_x = x + (is_across ? by * dx : 0), other_y = y + (is_across ? 0 : by * dy);
    const bool is_there = other_x >= 0 && other_x < width && other_y >= 0 && other_y < height;
    return is_there ? other_y * width + other_x : -1;
  };
  for (const bool is_across : {true, false})
    if (const Rank from = beside(-1, is_across); from >= 0) calls.push_back(receive_from(from));
  calls.push_back(work());
  for (const bool is_across : {true, false})
    if (const Rank to = beside(1, is_across); to >= 0) calls.push_back(send_to(to));
}

}  // namespace

MessageProgram sweeps(int width, int height, int corners) {
  MessageProgram program;
  for (Rank rank = 0; rank < width * height; ++rank) {
    Calls& calls = program.calls.emplace_back();
    for (int corner = 0; corner < corners; ++corner) add_block(calls, width, height, rank, corner);
  }
  return program;
}

MessageProgram octants(int width, int height, int blocks, Dice& dice) {
  MessageProgram program;
  program.calls.resize(std::size_t(width * height));
  program.calls_say_partners = true;
  constexpr int kOctants = 8;
  for (int octant = 0; octant < kOctants; ++octant) {
    const int corner = dice.whole(0, 3);
    const bool all_meet = octant + 1 == kOctants || dice.whole(0, 3) == 0;
    for (Rank rank = 0; rank < program.ranks(); ++rank) {
      Calls& calls = program.calls[std::size_t(rank)];
      for (int block = 0; block < blocks; ++block) add_block(calls, width, height, rank, corner);
      if (all_meet) calls.push_back(meet());
    }
  }
  return program;
}

MessageProgram master_and_workers(Rank ranks) {
  MessageProgram program;
  Calls& of_master = program.calls.emplace_back();
  for (Rank rank = 1; rank < ranks; ++rank) of_master.push_back(send_to(rank));
  for (Rank rank = 1; rank < ranks; ++rank) of_master.push_back(receive_from(rank));
  of_master.push_back(work());
  for (Rank rank = 1; rank < ranks; ++rank) program.calls.push_back({receive_from(0), work(), send_to(0)});
  return program;
}

MessageProgram token(Rank ranks) {
  MessageProgram program;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Call receives = receive_from((rank + ranks - 1) % ranks), sends = send_to((rank + 1) % ranks);
    program.calls.push_back(rank == 0 ? Calls{work(), sends, receives} : Calls{receives, work(), sends});
  }
  return program;
}

MessageProgram tree(Rank ranks) {
  MessageProgram program;
  for (Rank rank = 0; rank < ranks; ++rank) {
    Calls calls;
    if (rank > 0) calls.push_back(receive_from((rank - 1) / 2));
    calls.push_back(work());
    for (const Rank to : {2 * rank + 1, 2 * rank + 2})
      if (to < ranks) calls.push_back(send_to(to));
    program.calls.push_back(calls);
  }
  return program;
}

MessageProgram turned_round(const MessageProgram& program) {
  MessageProgram turned;
  turned.calls.assign(program.calls.rbegin(), program.calls.rend());
  for (Calls& calls : turned.calls)
    for (Call& call : calls) call.peer = program.ranks() - 1 - call.peer;
  return turned;
}

MessageProgram delayed(MessageProgram program, const Delay& delay) {
  program.work[std::size_t(delay.rank)][std::size_t(delay.step)][0] += delay.length;
  return program;
}

Delay any_delay(const MessageProgram& program, Dice& dice) {
  const int steps = int(program.work[0].size());
  return {dice.whole(0, program.ranks() - 1), dice.whole(20, steps - 10),
          Nanoseconds(dice.whole(40'000'000, 80'000'000))};
}

int true_reach(const MessageProgram& program, const Delay& delay) {
  const auto with = delayed(program, delay).run(), without = program.run();
  int reach = 0;
  for (Rank rank = 0; rank < program.ranks(); ++rank) {
    Nanoseconds most{};
    for (std::size_t step = 0; step < with.ends[std::size_t(rank)].size(); ++step)
      most = std::max(most, with.ends[std::size_t(rank)][step] - without.ends[std::size_t(rank)][step]);
    reach += rank != delay.rank && double(most.count()) > 0.1 * kWork;
  }
  return reach;
}

}  // namespace idlewave::analysis
