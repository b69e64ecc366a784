#include "monitor/cli/reporting/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "monitor/analysis/domains/threads.h"
#include "monitor/analysis/plural.h"
#include "monitor/analysis/session/calls.h"
#include "monitor/analysis/steps/step_history.h"
#include "probe/mpi/calls.h"
#include "probe/wire/printable.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::reporting {
namespace {

using analysis::session::Crossing;
using analysis::session::FunctionUse;
using analysis::session::Matrix;
using analysis::session::Traffic;
using json = support::Json;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::seconds;

constexpr std::size_t kShownFunctions = 10, kShownPairs = 5;
constexpr std::uint64_t kFewestSteps = 8;  ///< Fewer calls are of the program's beginning and end.

std::string duration_text(double seconds) {
  return words::format_duration(Nanoseconds(std::llround(std::min(seconds * 1e9, 9e18))));
}

/// One list a column, so that many ranks stay short; by name of the function.
std::map<std::string, json> rank_columns(const Timeline& timeline) {
  std::map<std::string, json> columns;
  for (const auto& [rank, calls] : timeline.calls().all()) {
    for (const wire::FunctionSums& sums : calls.functions) {
      json& of = columns[sums.name];
      of["rank"].push_back(rank);
      of["calls"].push_back(sums.calls);
      of["time_s"].push_back(seconds(sums.time));
      of["longest_s"].push_back(seconds(sums.longest));
      of["bytes"].push_back(sums.unsized < sums.calls ? json(sums.bytes) : json());
    }
  }
  return columns;
}

/// How often each rank has called a function.
struct CallsOfEach {
  std::uint64_t calls = 0;  ///< Of the first.
  std::uint64_t ranks = 0;  ///< That have called it.
  bool differ = false;
};

/// By name.
std::map<std::string_view, CallsOfEach> calls_of_each(const Timeline& timeline) {
  std::map<std::string_view, CallsOfEach> all;
  for (const auto& [rank, calls] : timeline.calls().all()) {
    for (const wire::FunctionSums& sums : calls.functions) {
      CallsOfEach& its = all.try_emplace(sums.name, CallsOfEach{.calls = sums.calls}).first->second;
      ++its.ranks;
      its.differ = its.differ || its.calls != sums.calls;
    }
  }
  return all;
}

json traffic_json(const Traffic& traffic) { return {{"messages", traffic.messages}, {"bytes", traffic.bytes}}; }

std::string function_line(const FunctionUse& use) {
  return fmt::format("  {:<24} {:>5.1f} % {:>10} {:>10} {:<6} mean {:>9}, longest {:>9} on rank {}{}\n",
                     wire::printable(use.name), use.share * 100, duration_text(use.time_s), use.calls,
                     use.calls == 1 ? "call," : "calls,", duration_text(use.mean_s()),
                     words::format_duration(use.longest), use.longest_rank,
                     use.bytes ? ", " + words::format_bytes(*use.bytes) : "");
}

std::string functions_text(const std::vector<FunctionUse>& uses) {
  if (uses.empty()) return {};  // of a program that tells of its messages itself
  std::string text = "time in MPI by function:\n";
  for (const FunctionUse& use : uses) {
    if (&use - uses.data() == std::ptrdiff_t(kShownFunctions)) break;
    text += function_line(use);
  }
  if (uses.size() > kShownFunctions)
    text += fmt::format("  and {} more\n", analysis::plural(uses.size() - kShownFunctions, "function"));
  return text;
}

std::string share_text(const Traffic& part, const Traffic& all) {
  return fmt::format("{:.0f} %", all.bytes == 0 ? 0.0 : 100 * double(part.bytes) / double(all.bytes));
}

const char* crossing_text(Crossing crossing) {
  switch (crossing) {
    case Crossing::kNothing: return "";
    case Crossing::kDomains: return ", to another socket";
    case Crossing::kNodes: return ", to another node";
    case Crossing::kUnknown: break;
  }
  return ", places not known";
}

std::string not_counted_text(const Matrix& matrix) {
  std::string text;
  if (matrix.others.messages > 0)
    text += fmt::format("  {} ({}) of them to receivers that were not told apart\n",
                        analysis::plural(matrix.others.messages, "message"), words::format_bytes(matrix.others.bytes));
  if (!matrix.not_counted.empty())
    text += fmt::format("  not counted among them: what {} moved\n",
                        wire::printable(fmt::format("{}", fmt::join(matrix.not_counted, ", "))));
  if (matrix.threads_may_send) text += "  not counted among them: some of what other threads of a rank may have sent\n";
  return text;
}

std::string matrix_text(const Matrix& matrix) {
  std::string text = fmt::format("{} from rank to rank, {}", analysis::plural(matrix.all.messages, "message"),
                                 words::format_bytes(matrix.all.bytes));
  if (matrix.all.bytes > 0)
    text += fmt::format(": {} to another socket of the node, {} to another node",
                        share_text(matrix.across_domains, matrix.all), share_text(matrix.across_nodes, matrix.all));
  if (matrix.unplaced.bytes > 0)
    text += fmt::format(", {} between places not known", share_text(matrix.unplaced, matrix.all));
  text += "\n";
  for (std::size_t i = 0; i < std::min(matrix.pairs.size(), kShownPairs); ++i) {
    const analysis::session::PairUse& pair = matrix.pairs[i];
    text += fmt::format("  rank {} to rank {}: {}, {}{}\n", pair.from, pair.to, words::format_bytes(pair.traffic.bytes),
                        analysis::plural(pair.traffic.messages, "message"), crossing_text(pair.crosses));
  }
  if (matrix.pairs.size() > kShownPairs)
    text += fmt::format("  and {} more\n", analysis::plural(matrix.pairs.size() - kShownPairs, "pair"));
  return text + not_counted_text(matrix);
}

}  // namespace

json functions_json(const Timeline& timeline) {
  const std::vector<FunctionUse> functions = analysis::session::functions_by_time(timeline);
  if (functions.empty()) return {};
  std::map<std::string, json> columns = rank_columns(timeline);
  json list = json::array();
  for (const FunctionUse& use : functions) {
    list.push_back({{"name", use.name},
                    {"calls", use.calls},
                    {"time_s", use.time_s},
                    {"share", use.share},
                    {"mean_s", use.mean_s()},
                    {"longest_s", seconds(use.longest)},
                    {"longest_rank", use.longest_rank},
                    {"bytes", use.bytes ? json(*use.bytes) : json()},
                    {"calls_without_bytes", use.unsized},
                    {"by_rank", std::move(columns[use.name])}});
  }
  return list;
}

json matrix_json(const Timeline& timeline) {
  const auto matrix = analysis::session::find_matrix(timeline);
  if (!matrix) return {};
  json pairs = json::array();
  for (const analysis::session::PairUse& pair : matrix->pairs)
    pairs.push_back({{"from", pair.from},
                     {"to", pair.to},
                     {"messages", pair.traffic.messages},
                     {"bytes", pair.traffic.bytes},
                     {"crosses", to_words(pair.crosses)}});
  json object = traffic_json(matrix->all);
  object["across_domains"] = traffic_json(matrix->across_domains);
  object["across_nodes"] = traffic_json(matrix->across_nodes);
  object["places_unknown"] = traffic_json(matrix->unplaced);
  object["others"] = traffic_json(matrix->others);
  object["not_counted"] = matrix->not_counted;
  object["complete"] = !timeline.calls().is_cut() && !matrix->threads_may_send;
  object["pairs"] = std::move(pairs);
  return object;
}

json time_by_rank_json(const Timeline& timeline) {
  using timeline::Category;
  json object = {{"rank", json::array()},
                 {"compute_s", json::array()},
                 {"wait_s", json::array()},
                 {"delay_s", json::array()},
                 {"other_s", json::array()}};
  for (const wire::Rank rank : analysis::steps::heard_ranks(timeline)) {
    const timeline::Times times = timeline.lane(rank)->times(timeline.begin(), timeline.now());
    const auto of = [&](Category category) { return seconds(Nanoseconds(times[std::size_t(category)])); };
    object["rank"].push_back(rank);
    object["compute_s"].push_back(of(Category::kCompute));
    object["wait_s"].push_back(of(Category::kWait));
    object["delay_s"].push_back(of(Category::kDelay));
    object["other_s"].push_back(of(Category::kOther));
  }
  return object;
}

json time_by_thread_json(const Timeline& timeline) {
  const auto threads = analysis::domains::thread_lane_times(timeline, {timeline.begin(), timeline.now()});
  json object;
  for (const analysis::domains::ThreadLaneTimes& times : threads) {
    object["rank"].push_back(times.thread.rank);
    object["thread"].push_back(times.thread.thread);
    object["compute_s"].push_back(seconds(times.compute));
    object["wait_s"].push_back(seconds(times.wait));
    object["other_s"].push_back(seconds(times.other));
  }
  return object;
}

std::string possible_step_text(const Timeline& timeline) {
  if (timeline.calls().is_cut()) return {};
  const auto all = calls_of_each(timeline);
  std::string_view name;
  std::uint64_t most = kFewestSteps - 1;
  for (const mpi::CallInfo& call : mpi::calls()) {
    const auto its = call.is_collective ? all.find(call.name) : all.end();
    if (its == all.end() || its->second.differ || its->second.ranks != std::uint64_t(timeline.ranks())) continue;
    if (its->second.calls > most) name = its->first, most = its->second.calls;
  }
  if (name.empty()) return {};
  return fmt::format("each rank has called {0} {1} times: --step-at {0} makes a step of what lies between\n", name,
                     most);
}

std::string calls_text(const Timeline& timeline) {
  const auto matrix = analysis::session::find_matrix(timeline);
  if (!matrix) return {};
  std::string text = functions_text(analysis::session::functions_by_time(timeline));
  if (timeline.calls().is_cut()) text += "  some ranks are left out: there is no room for their sums\n";
  if (timeline.calls().unseen() > 0)
    text += fmt::format("  not counted among them: {} of other threads, which were not seen\n",
                        analysis::plural(timeline.calls().unseen(), "call"));
  const bool says_pairs = matrix->all.messages > 0 || !matrix->not_counted.empty() || matrix->threads_may_send;
  return says_pairs ? text + matrix_text(*matrix) : text;
}

}  // namespace idlewave::cli::reporting
