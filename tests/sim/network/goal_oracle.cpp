#include "tests/sim/network/goal_oracle.h"

#include <algorithm>
#include <list>
#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace idlewave::tests {

namespace {

using sim::GoalOp;
using sim::OpKind;
using Name = std::pair<int, std::size_t>;  ///< Rank and place in its list.

struct Item {
  std::int64_t time = 0;
  std::uint64_t order = 0;
  Name name;
  bool message = false;
  bool operator>(const Item& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
};

class Oracle {
 public:
  Oracle(const OraclePrograms& programs, const WholeLogGops& network) : programs_(programs), n_(network) {}

  OracleRun run() {
    for (int rank = 0; rank < int(programs_.size()); ++rank) find_ready(rank);
    while (!queue_.empty()) {
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
    std::int64_t free = item.time;
    if (item.message || what.kind == OpKind::kSend) free = std::max(cpu, nic);
    if (!item.message && what.kind == OpKind::kCalc) free = cpu;
    if (free > item.time) {
      item.time = free;
      return queue_.push(item);
    }
    touched_ = {here};
    if (item.message) {
      cpu = item.time + n_.o + (bytes - 1) * std::max(n_.O, n_.G);
      nic = item.time + n_.g + (bytes - 1) * n_.G;
      arrive(item);
    } else if (what.kind == OpKind::kSend) {
      cpu = item.time + n_.o + (bytes - 1) * n_.O;
      nic = item.time + n_.g + (bytes - 1) * n_.G;
      queue_.push({item.time + n_.o + n_.L, order_++, item.name, true});
      started(item.name);
      if (what.amount <= n_.S) ended(item.name);
    } else if (what.kind == OpKind::kCalc) {
      cpu = item.time + bytes;
      started(item.name);
      ended(item.name);
    } else {
      post(item);
    }
    for (const int rank : touched_) find_ready(rank);
  }

  static bool fit(const GoalOp& receive, const GoalOp& send) {
    return (receive.peer == sim::kAnySource || receive.peer == send.rank) &&
           (receive.tag == sim::kAnyTag || receive.tag == send.tag || send.tag == sim::kAnyTag);
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

  void release(Name message, std::int64_t time, sim::Units units) {
    if (op(message).amount <= n_.S) return;
    ended(message);
    touched_.insert(message.first);
    for (std::int64_t* clock : {&cpu_[{message.first, units.cpu}], &sending_[{message.first, units.nic}]})
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
      queue_.push({time, order_++, {rank, place}, false});
    }
    freed.clear();
  }

  const OraclePrograms& programs_;
  WholeLogGops n_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
  std::uint64_t order_ = 0;
  std::map<std::pair<int, int>, std::int64_t> cpu_, sending_, receiving_;
  std::map<int, std::list<Name>> posted_, arrived_;
  std::map<int, std::vector<std::size_t>> freed_;
  std::set<Name> started_, ended_;
  std::set<int> touched_, first_;
};

}  // namespace

OracleRun simulate(const OraclePrograms& programs, const WholeLogGops& network) {
  return Oracle(programs, network).run();
}

}  // namespace idlewave::tests
