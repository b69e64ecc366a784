#include "tests/sim/network/goal_oracle.h"

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>

namespace idlewave::tests {

namespace {

using sim::network::GoalOp;
using sim::network::OpKind;
using Name = std::pair<int, std::size_t>;  ///< Rank and place in its list.

struct Item {
  std::int64_t time = 0;
  std::uint64_t order = 0;
  Name name;
  bool message = false;
  bool operator>(const Item& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
};

__extension__ using Wide = __int128;
using Cpu = std::pair<int, int>;  ///< Rank and its processor.

/// A calculation that runs. `left`: in units of 1 / (b1 * kShares), so that it loses a whole number in a nanosecond.
struct Running {
  Cpu cpu;
  Name name;
  Wide left = 0;
  std::int64_t begin = 0;
  int number = 0;
};

constexpr std::int64_t shares() {
  std::int64_t all = 1;
  for (std::int64_t n = 2; n <= 40; ++n) all = std::lcm(all, n);
  return all;
}
constexpr std::int64_t kShares = shares();

/// Goes from one moment at which somebody begins or ends to the next, everybody's work in hand.
class OracleDomain {
 public:
  std::int64_t time() const { return time_; }

  std::int64_t next_end(const OracleMemory& memory) const {
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (const Running& it : running_) {
      const Wide rate = share(memory);
      next = std::min(next, time_ + std::int64_t((it.left + rate - 1) / rate));
    }
    return next;
  }
  void go_to(std::int64_t time, const OracleMemory& memory) {
    for (Running& it : running_) it.left -= Wide(time - time_) * share(memory);
    time_ = time;
  }
  void add(const Running& it) { running_.push_back(it); }
  std::vector<Running> take_ended() {
    std::vector<Running> ended, others;
    for (const Running& it : running_) (it.left <= 0 ? ended : others).push_back(it);
    running_ = others;
    return ended;
  }

 private:
  Wide share(const OracleMemory& memory) const {
    const auto n = std::int64_t(running_.size());
    return Wide(std::min(n * memory.b1, memory.saturated)) * (kShares / n);
  }

  std::int64_t time_ = 0;
  std::vector<Running> running_;
};

class Oracle {
 public:
  Oracle(const OraclePrograms& programs, const WholeLogGops& network, const OracleMachine& machine)
      : programs_(programs), n_(network), machine_(machine) {}

  OracleRun run() {
    for (int rank = 0; rank < int(programs_.size()); ++rank) find_ready(rank);
    while (!queue_.empty() || next_end() < kNever) {
      const std::int64_t end = next_end();
      if (end < kNever && (queue_.empty() || end <= queue_.top().time)) {
        end_all_at(end);
        continue;
      }
      const Item item = queue_.top();
      queue_.pop();
      handle(item);
    }
    OracleRun run;
    for (int rank = 0; rank < int(programs_.size()); ++rank) {
      run.finish_ns.push_back(0);
      for (int cpu = 0; cpu < 256; ++cpu) run.finish_ns.back() = std::max(run.finish_ns.back(), cpu_[{rank, cpu}]);
      run.stuck += posted_[rank].size() + arrived_[rank].size();
    }
    return run;
  }

 private:
  const GoalOp& op(Name name) const { return programs_[std::size_t(name.first)][name.second].op; }

  void handle(Item item) {
    const GoalOp& what = op(item.name);
    const std::int64_t bytes = std::int64_t(what.amount);
    const int here = item.message ? what.peer : what.rank;
    std::int64_t& cpu = cpu_[{here, what.units.cpu}];
    std::int64_t& nic = (item.message ? receiving_ : sending_)[{here, what.units.nic}];
    const bool receive = !item.message && what.kind == OpKind::kRecv;
    if (!receive && busy_.count({here, what.units.cpu})) return park(item, {here, what.units.cpu});
    std::int64_t free = item.time;
    if (item.message || what.kind == OpKind::kSend) free = std::max(cpu, nic);
    if (!item.message && what.kind == OpKind::kCalc) free = cpu;
    if (free > item.time) {
      item.time = free;
      return queue_.push(item);
    }
    if (!receive && machine_.noise.free_from)
      if (const std::int64_t later = machine_.noise.free_from(here, item.time); later > item.time) {
        item.time = later;
        return queue_.push(item);
      }
    touched_ = {here};
    if (item.message) {
      cpu = after_overhead(here, item.time, n_.o + (bytes - 1) * std::max(n_.O, n_.G));
      nic = item.time + n_.g + (bytes - 1) * n_.G;
      arrive(item);
    } else if (what.kind == OpKind::kSend) {
      cpu = after_overhead(here, item.time, n_.o + (bytes - 1) * n_.O);
      nic = item.time + n_.g + (bytes - 1) * n_.G;
      queue_.push({item.time + n_.o + n_.L, order_++, item.name, true});
      started(item.name);
      if (what.amount <= n_.S) ended(item.name);
    } else if (what.kind == OpKind::kCalc) {
      calculate(item, {here, what.units.cpu}, bytes);
      started(item.name);
      ended(item.name);
    } else {
      post(item);
    }
    for (const int rank : touched_) find_ready(rank);
  }

  std::int64_t after_overhead(int rank, std::int64_t time, std::int64_t overhead) const {
    const auto& noise = machine_.noise.after_overhead;
    return time + overhead + (noise ? noise(rank, time, time + overhead) : 0);
  }
  std::int64_t after_calc(int rank, int number, std::int64_t begin, std::int64_t end) const {
    const auto& noise = machine_.noise.after_calc;
    return end + (noise ? noise(rank, number, begin, end) : 0);
  }

  void calculate(const Item& item, Cpu cpu, std::int64_t work) {
    const int number = calcs_[cpu.first]++;
    const std::int64_t end = item.time + work;
    OracleDomain* domain = machine_.memory ? &domains_[cpu.first / machine_.memory->ranks_per_domain] : nullptr;
    if (!domain || end <= domain->time()) {
      cpu_[cpu] = after_calc(cpu.first, number, item.time, end);
      return;
    }
    // Alone until what has happened there already.
    const std::int64_t from = std::max(item.time, domain->time());
    domain->go_to(from, *machine_.memory);
    domain->add({cpu, item.name, Wide(end - from) * machine_.memory->b1 * kShares, item.time, number});
    busy_[cpu] = item.time;
  }

  std::int64_t next_end() const {
    std::int64_t next = kNever;
    for (const auto& [number, domain] : domains_) next = std::min(next, domain.next_end(*machine_.memory));
    for (const auto& [cpu, time] : idle_until_) next = std::min(next, time);
    return next;
  }

  /// Calculations, and then the noise behind them.
  void end_all_at(std::int64_t time) {
    for (auto& [number, domain] : domains_) {
      if (domain.next_end(*machine_.memory) != time) continue;
      domain.go_to(time, *machine_.memory);
      for (const Running& it : domain.take_ended())
        idle_until_[it.cpu] = after_calc(it.cpu.first, it.number, it.begin, time);
    }
    for (auto it = idle_until_.begin(); it != idle_until_.end();) {
      if (it->second == time) set_free(it->first, time);
      it = it->second == time ? idle_until_.erase(it) : std::next(it);
    }
  }

  void set_free(Cpu cpu, std::int64_t time) {
    cpu_[cpu] = std::max(time, busy_[cpu]);
    busy_.erase(cpu);
    for (Item& item : parked_[cpu]) {
      item.time = std::max(item.time, time);
      queue_.push(item);
    }
    parked_.erase(cpu);
  }

  void park(Item item, Cpu cpu) {
    item.time = std::max(item.time, busy_[cpu]);
    parked_[cpu].push_back(item);
  }

  static bool fit(const GoalOp& receive, const GoalOp& send) {
    return (receive.peer == sim::network::kAnySource || receive.peer == send.rank) &&
           (receive.tag == sim::network::kAnyTag || receive.tag == send.tag || send.tag == sim::network::kAnyTag);
  }

  void arrive(const Item& item) {
    auto& posted = posted_[op(item.name).peer];
    const auto found = std::find_if(posted.begin(), posted.end(), [&](Name r) { return fit(op(r), op(item.name)); });
    if (found == posted.end()) return arrived_[op(item.name).peer].push_back(item.name);
    release(item.name, item.time, op(item.name).units);
    ended(*found);
    posted.erase(found);
  }

  void post(const Item& item) {
    started(item.name);
    auto& arrived = arrived_[item.name.first];
    const auto found = std::find_if(arrived.begin(), arrived.end(), [&](Name m) { return fit(op(item.name), op(m)); });
    if (found == arrived.end()) return posted_[item.name.first].push_back(item.name);
    release(*found, item.time, op(item.name).units);
    ended(item.name);
    arrived.erase(found);
  }

  void release(Name message, std::int64_t time, sim::network::Units units) {
    if (op(message).amount <= n_.S) return;
    ended(message);
    touched_.insert(message.first);
    const Cpu cpu{message.first, units.cpu};
    for (std::int64_t* clock : {busy_.count(cpu) ? &busy_[cpu] : &cpu_[cpu], &sending_[{message.first, units.nic}]})
      *clock = std::max(*clock, time);
  }

  void started(Name name) {
    started_.insert(name);
    note_freed(name.first, name.second, &OracleOp::starts);
  }
  void ended(Name name) {
    ended_.insert(name);
    note_freed(name.first, name.second, &OracleOp::ends);
  }

  /// In the order in which dependences on `place` were declared, which is that of the dependents in these programs.
  void note_freed(int rank, std::size_t place, std::vector<std::size_t> OracleOp::*needs) {
    const auto& program = programs_[std::size_t(rank)];
    for (std::size_t other = 0; other < program.size(); ++other)
      if (std::count(((program[other]).*needs).begin(), ((program[other]).*needs).end(), place) &&
          is_ready(rank, other))
        freed_[rank].push_back(other);
  }

  bool is_ready(int rank, std::size_t place) const {
    const OracleOp& it = programs_[std::size_t(rank)][place];
    return std::all_of(it.ends.begin(), it.ends.end(),
                       [&](std::size_t p) {
                         return ended_.count({rank, p});
                       }) &&
           std::all_of(it.starts.begin(), it.starts.end(), [&](std::size_t p) {
             return started_.count({rank, p});
           });
  }

  void find_ready(int rank) {
    if (first_.insert(rank).second)
      for (std::size_t place = 0; place < programs_[std::size_t(rank)].size(); ++place)
        if (is_ready(rank, place)) freed_[rank].push_back(place);
    auto& freed = freed_[rank];
    // Of the standard library and not stable, as in LogGOPSim.
    std::sort(freed.begin(), freed.end(), [&](std::size_t a, std::size_t b) {
      return op({rank, a}).kind < op({rank, b}).kind;
    });
    for (const std::size_t place : freed) {
      const GoalOp& what = op({rank, place});
      std::int64_t time = cpu_[{rank, what.units.cpu}];
      if (what.kind == OpKind::kSend) time = std::max(time, sending_[{rank, what.units.nic}]);
      const Item item{time, order_++, {rank, place}, false};
      if (const Cpu cpu{rank, what.units.cpu}; busy_.count(cpu))
        park(item, cpu);
      else
        queue_.push(item);
    }
    freed.clear();
  }

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  const OraclePrograms& programs_;
  WholeLogGops n_;
  OracleMachine machine_;
  std::map<int, OracleDomain> domains_;
  std::map<Cpu, std::int64_t> busy_;        ///< A calculation or its noise runs there; not free before.
  std::map<Cpu, std::int64_t> idle_until_;  ///< Noise after a calculation.
  std::map<Cpu, std::vector<Item>> parked_;
  std::map<int, int> calcs_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
  std::uint64_t order_ = 0;
  std::map<std::pair<int, int>, std::int64_t> cpu_, sending_, receiving_;
  std::map<int, std::list<Name>> posted_, arrived_;
  std::map<int, std::vector<std::size_t>> freed_;
  std::set<Name> started_, ended_;
  std::set<int> touched_, first_;
};

}  // namespace

OracleRun simulate(const OraclePrograms& programs, const WholeLogGops& network, const OracleMachine& machine) {
  return Oracle(programs, network, machine).run();
}

}  // namespace idlewave::tests
