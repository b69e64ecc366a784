#include "probe/agent/orders.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/shm/gate.h"
#include "probe/wire/no_command.h"
#include "probe/words/noise.h"

namespace idlewave::agent {

using wire::ClearOrder;
using wire::Command;
using wire::DelayOrder;
using wire::Nanoseconds;
using wire::NoiseOrder;
using wire::Rank;
using wire::UnknownOrder;

namespace {

std::string reason_of(const wire::Status& status) { return status ? std::string() : status.error().message; }

struct ObjectionToOrder {
  std::string operator()(const DelayOrder& order) const {
    if (order.at_step < wire::kNoStep) return fmt::format("step {}: the first step is 0", order.at_step);
    return reason_of(words::check_hold(order.duration));
  }
  std::string operator()(const NoiseOrder& order) const { return reason_of(words::check_order(order)); }
  std::string operator()(const ClearOrder&) const { return {}; }
  std::string operator()(const UnknownOrder&) const { return wire::to_words(wire::NoCommand::kUnknownOrder); }
};

bool knows(const Crew& crew, Rank rank) {
  return std::any_of(crew.known.begin(), crew.known.end(),
                     [&](const wire::RankInfo& info) { return info.rank == rank; });
}

std::string objection_to_ranks(const Command& command, const Crew& crew) {
  for (const Rank rank : command.ranks) {
    if (rank < 0 || rank >= crew.world_size) {
      return crew.world_size == 0 ? fmt::format("rank {}: no rank has joined yet", rank)
                                  : fmt::format("rank {}: the program has ranks 0 to {}", rank, crew.world_size - 1);
    }
    if (knows(crew, rank) && !crew.present.contains(rank)) return fmt::format("rank {} has ended", rank);
  }
  return command.ranks.empty() && crew.present.empty() ? "no rank is running" : std::string();
}

bool is_addressed(const Command& command, Rank rank) {
  return command.ranks.empty() || std::find(command.ranks.begin(), command.ranks.end(), rank) != command.ranks.end();
}

std::string objection_of(const Resident& rank, Nanoseconds wanted) {
  return reason_of(words::check_load(rank.rank(), wanted, rank.may_be_held(), rank.waiting_orders()));
}

/// How long one rank is held for at least by what is ordered.
struct SpanOf {
  Nanoseconds operator()(const DelayOrder& order) const { return order.duration; }
  Nanoseconds operator()(const NoiseOrder& order) const { return order.amount; }
  Nanoseconds operator()(const ClearOrder&) const { return Nanoseconds(0); }
  Nanoseconds operator()(const UnknownOrder&) const { return Nanoseconds(0); }
};

std::string objection_to_load(const Command& command, const Crew& crew) {
  if (std::holds_alternative<ClearOrder>(command.order)) return {};
  for (const auto& [number, rank] : crew.present) {
    if (!is_addressed(command, number)) continue;
    std::string reason = objection_of(*rank, std::visit(SpanOf{}, command.order));
    if (!reason.empty()) return reason;
  }
  return {};
}

/// An order that is not known would not be where injection is on.
std::string objection_to_injection(const Command& command, const Crew& crew) {
  const bool may_hold =
      std::holds_alternative<DelayOrder>(command.order) || std::holds_alternative<NoiseOrder>(command.order);
  return may_hold && !crew.may_inject ? wire::to_words(wire::NoCommand::kInjectionOff) : std::string();
}

/// Nobody has to be there for what ends in any case.
bool ends_noise_of_one_who_has_gone(const Command& command) {
  const auto* clear = std::get_if<ClearOrder>(&command.order);
  return clear != nullptr && clear->noise_of != 0;
}

std::string objection(const Command& command, const Crew& crew) {
  if (command.id == 0) return "command number 0 stands for the program itself";
  if (ends_noise_of_one_who_has_gone(command)) return {};
  for (std::string reason : {objection_to_injection(command, crew), std::visit(ObjectionToOrder{}, command.order),
                             objection_to_ranks(command, crew), objection_to_load(command, crew)}) {
    if (!reason.empty()) return reason;
  }
  return {};
}

/// Every rank draws its own noise, the same in every run with the same commands.
std::uint64_t noise_seed(wire::CommandId command, Rank rank) {
  return std::uint64_t{command} << 32 | std::uint32_t(rank);
}

struct GiveOrder {
  const Command& command;
  Resident& rank;
  const TraceShelf::Loan& trace;  ///< Null, unless that is ordered.
  Nanoseconds now;

  void operator()(const DelayOrder& order) const {
    const std::int64_t ns = order.duration.count();
    rank.orders().add(order.in_steps > 0 ? shm::delay_in_steps(rank.slot(), command.id, ns, order.in_steps)
                                         : shm::Delay{command.id, ns, order.at_step});
    rank.orders().pump(rank.slot());
  }
  void operator()(const NoiseOrder& order) const {
    rank.play({1, command.id, std::uint32_t(order.kind), order.amount.count(), order.frequency,
               noise_seed(command.id, rank.rank()), played(order.trace)},
              trace);
  }
  void operator()(const ClearOrder& order) const {
    if (order.noise_of != 0) return rank.end_noise_of(order.noise_of);
    rank.let_go();
  }
  void operator()(const UnknownOrder&) const {}  // Objected to.

 private:
  shm::PlayedTrace played(const wire::OrderedTrace& ordered) const {
    if (trace == nullptr) return {};
    return {trace->first, trace->count, ordered.length.count(), ordered.busy.count(), now.count()};
  }
};

/// The detours of a trace that is ordered; null: no trace is.
const std::vector<wire::Detour>* detours_of(const Command& command) {
  const auto* noise = std::get_if<NoiseOrder>(&command.order);
  return noise != nullptr && noise->kind == wire::NoiseKind::kTrace ? &noise->trace.detours : nullptr;
}

std::string no_room(std::size_t wanted, std::uint32_t free) {
  return fmt::format(
      "the traces that ranks of this node play already leave room for {} detours, and this one has {}; end noise first "
      "(inject --clear)",
      free, wanted);
}

/// No rank of this node is named, and there is nothing else to say about it.
bool concerns_others(const Command& command, const Crew& crew) {
  return !command.ranks.empty() && std::all_of(command.ranks.begin(), command.ranks.end(), [&](Rank rank) {
    return rank >= 0 && rank < crew.world_size && !knows(crew, rank);
  });
}

}  // namespace

std::optional<wire::Outcome> obey(const Command& command, const Crew& crew, Nanoseconds now) {
  if (concerns_others(command, crew)) return std::nullopt;
  wire::Outcome outcome{wire::without_detours(command), now, false, objection(command, crew)};
  TraceShelf::Loan trace;
  if (const auto* detours = detours_of(command); detours != nullptr && outcome.reason.empty()) {
    trace = crew.traces.put(*detours);
    if (trace == nullptr) outcome.reason = no_room(detours->size(), crew.traces.free());
  }
  outcome.accepted = outcome.reason.empty();
  if (!outcome.accepted) return outcome;
  for (const auto& [number, rank] : crew.present) {
    if (is_addressed(command, number)) std::visit(GiveOrder{command, *rank, trace, now}, command.order);
  }
  return outcome;
}

}  // namespace idlewave::agent
