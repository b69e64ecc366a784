#include "workloads/ring/exchange.h"

#include <idlewave/probe.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "workloads/support/neighbour.h"
#include "workloads/support/pause.h"

namespace idlewave::ring {
namespace {

/// The rank within `others` of each of `ranks`; MPI_UNDEFINED for one that is not among them.
std::vector<int> ranks_within(MPI_Comm others, MPI_Comm ranks) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group here = MPI_GROUP_NULL;
  MPI_Comm_group(ranks, &all);
  MPI_Comm_group(others, &here);
  std::vector<int> given(static_cast<std::size_t>(ranks::group_of(ranks).size));
  std::vector<int> translated(given.size());
  std::iota(given.begin(), given.end(), 0);
  MPI_Group_translate_ranks(all, static_cast<int>(given.size()), given.data(), here, translated.data());
  MPI_Group_free(&all);
  MPI_Group_free(&here);
  return translated;
}

}  // namespace

Exchange::Exchange(const Options& options, MPI_Comm ranks, const ranks::Group& node, std::optional<Doorbells> bells,
                   int first_wait)
    : ranks_(ranks),
      first_wait_(first_wait),
      synchronous_(options.protocol == Protocol::kRendezvous),
      split_waits_(options.wait == WaitFlavour::kSplit),
      bells_(std::move(bells)),
      own_bell_(node.rank) {
  const ranks::Group world = ranks::group_of(ranks);
  const auto bytes = static_cast<std::size_t>(options.message_size);
  for (const Rank distance : options.distances) {
    // keeps apart the messages of two distances that lead to the same rank
    const int tag = static_cast<int>(partners_.size());
    const auto neighbour = [&](Rank d) {
      return support::neighbour(options.topology, world.size, world.rank, d).value_or(MPI_PROC_NULL);
    };
    partners_.push_back(
        {neighbour(distance), neighbour(-distance), tag, false, std::vector<char>(bytes), std::vector<char>(bytes)});
  }
  requests_.reserve(2 * partners_.size());
  completed_.resize(2 * partners_.size());
  note_awaited();
  if (bells_) note_neighbours(node);
  eager_ = try_eager();
  says_times_ = bells_ && eager_ && bytes >= sizeof ready_;
}

void Exchange::note_awaited() {
  awaited_.resize(split_waits_ ? partners_.size() : 1);
  const std::vector<int> in_job = ranks_within(MPI_COMM_WORLD, ranks_);
  const auto of_job = [&](int rank) { return rank == MPI_PROC_NULL ? rank : in_job[static_cast<std::size_t>(rank)]; };
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    Awaited& wait = awaited_[split_waits_ ? i : 0];
    wait.from.push_back(of_job(partners_[i].receive_from));
    wait.to.push_back(of_job(partners_[i].send_to));
  }
}

void Exchange::say_partners(std::size_t wait) const {
  const Awaited& awaited = awaited_[wait];
  idlewave_partners(first_wait_ + static_cast<int>(wait), awaited.from.data(), static_cast<int>(awaited.from.size()),
                    awaited.to.data(), static_cast<int>(awaited.to.size()), eager_ ? 0 : IDLEWAVE_RENDEZVOUS);
}

/// A neighbour on another node can't ring here, so that its messages have to be looked for.
void Exchange::note_neighbours(const ranks::Group& node) {
  constexpr Nanoseconds kIfBellsFail = std::chrono::milliseconds{2};
  constexpr Nanoseconds kIfNoBellRings = std::chrono::microseconds{50};
  bell_of_rank_ = ranks_within(node.ranks, ranks_);
  const auto is_here = [&](int rank) {
    return rank == MPI_PROC_NULL || bell_of_rank_[static_cast<std::size_t>(rank)] != MPI_UNDEFINED;
  };
  for (Partners& partners : partners_) partners.same_clock = is_here(partners.receive_from);
  const bool all_here =
      std::ranges::all_of(partners_, [&](const Partners& p) { return is_here(p.send_to) && is_here(p.receive_from); });
  look_again_after_ = all_here ? kIfBellsFail : kIfNoBellRings;
}

wire::Nanoseconds Exchange::run(wire::Nanoseconds done) {
  ready_ = done;
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    post_receive(partners_[i]);
    if (says_times_) std::memcpy(partners_[i].sent.data(), &ready_, sizeof ready_);
    post_send(partners_[i]);
    if (!split_waits_) continue;
    say_partners(i);
    complete();
    if (says_times_) heed_time(partners_[i]);
  }
  if (!split_waits_) {
    say_partners(0);
    complete();
    if (says_times_) std::ranges::for_each(partners_, [this](const Partners& partners) { heed_time(partners); });
  }
  return says_times_ ? ready_ : support::monotonic_now();
}

/// What came from nobody is zero.
void Exchange::heed_time(const Partners& partners) {
  wire::Nanoseconds done = support::monotonic_now();
  if (partners.same_clock) std::memcpy(&done, partners.received.data(), sizeof done);
  ready_ = std::max(ready_, done);
}

bool Exchange::try_eager() {
  constexpr auto kPatience = std::chrono::milliseconds{100};
  for (Partners& partners : partners_) post_send(partners);
  int sent = 0;
  const Nanoseconds deadline = support::monotonic_now() + kPatience;
  while (!sent && support::monotonic_now() < deadline) {
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &sent, MPI_STATUSES_IGNORE);
  }
  int all_sent = 0;
  MPI_Allreduce(&sent, &all_sent, 1, MPI_INT, MPI_LAND, ranks_);
  for (Partners& partners : partners_) post_receive(partners);
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  return all_sent != 0;
}

void Exchange::post_send(Partners& partners) {
  const auto post = synchronous_ ? MPI_Issend : MPI_Isend;
  post(partners.sent.data(), static_cast<int>(partners.sent.size()), MPI_CHAR, partners.send_to, partners.tag, ranks_,
       &requests_.emplace_back());
}

void Exchange::post_receive(Partners& partners) {
  MPI_Irecv(partners.received.data(), static_cast<int>(partners.received.size()), MPI_CHAR, partners.receive_from,
            partners.tag, ranks_, &requests_.emplace_back());
}

void Exchange::complete() {
  if (bells_) {
    complete_asleep();
  } else {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  requests_.clear();
}

void Exchange::complete_asleep() {
  wake_partners();
  for (auto left = static_cast<int>(requests_.size()); left > 0;) {
    const std::uint32_t seen = bells_->rung(own_bell_);
    int ended = 0;
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &ended, completed_.data(), MPI_STATUSES_IGNORE);
    left -= ended;
    if (ended > 0 && !eager_) wake_partners();
    if (ended == 0) bells_->wait(own_bell_, seen, look_again_after_);
  }
}

/// Whom this rank has sent something, or, by rendezvous, answered.
void Exchange::wake_partners() {
  for (const Partners& partners : partners_) {
    wake(partners.send_to);
    if (!eager_) wake(partners.receive_from);
  }
}

void Exchange::wake(int rank) {
  if (rank == MPI_PROC_NULL) return;
  const int bell = bell_of_rank_[static_cast<std::size_t>(rank)];
  if (bell != MPI_UNDEFINED) bells_->ring(bell);
}

}  // namespace idlewave::ring
