#include "monitor/cli/reporting/causes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "monitor/analysis/steps/step_history.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::reporting {
namespace {

using analysis::causes::Cost;
using analysis::causes::Culprit;
using analysis::causes::RankCauses;
using analysis::partners::PartnerSource;
using json = support::Json;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using words::format_duration;

constexpr analysis::Window kWholeRun{Nanoseconds{0}, Nanoseconds::max()};
/// Of a rank; what more of them cost it is one sum, so that a report grows with the ranks and not with their square.
constexpr std::size_t kMostCulprits = 16;
constexpr std::size_t kWorst = 5;
constexpr std::size_t kShownOffsets = 8;
/// Of all that was waited: who cost less is not among the worst.
constexpr double kWorthSaying = 0.01;
constexpr double kNearlyAll = 0.95;

json cost_json(const Cost& cost) { return {{"direct", cost.direct.count()}, {"far", cost.far.count()}}; }

json culprits_json(const std::vector<Culprit>& culprits) {
  json list = json::array();
  for (std::size_t i = 0; i < std::min(culprits.size(), kMostCulprits); ++i)
    list.push_back({{"rank", culprits[i].rank},
                    {"direct_ns", culprits[i].cost.direct.count()},
                    {"far_ns", culprits[i].cost.far.count()}});
  return list;
}

Cost beyond_the_most(const std::vector<Culprit>& culprits) {
  Cost rest;
  for (std::size_t i = kMostCulprits; i < culprits.size(); ++i)
    rest.direct += culprits[i].cost.direct, rest.far += culprits[i].cost.far;
  return rest;
}

json ended_json(const RankCauses& causes) {
  json object;
  for (const analysis::causes::WaitEnd& end : analysis::causes::kWaitEnds)
    object[std::string(end.key)] = (causes.ended.*end.time).count();
  object["not_said"] = (causes.waited - causes.ended.sum()).count();
  return object;
}

json rank_json(Rank rank, const RankCauses& causes) {
  return {{"rank", rank},
          {"waited_ns", causes.waited.count()},
          {"by", culprits_json(causes.by)},
          {"by_more_ns", cost_json(beyond_the_most(causes.by))},
          {"itself_ns", causes.itself.count()},
          {"shared_bandwidth_ns", causes.bandwidth.count()},
          {"not_attributable_ns", {{"transfer", causes.transfer.count()}, {"unknown", causes.unknown.count()}}},
          {"waited_for_ns", ended_json(causes)},
          {"costs_ns", cost_json(causes.costs)}};
}

/// Of all ranks. In double, as a few long waits of many ranks are more nanoseconds than 64 bits hold.
struct Total {
  double waited = 0, by_others = 0, bandwidth = 0, transfer = 0, unknown = 0;
  std::array<double, analysis::causes::kWaitEnds.size()> ended{};  ///< By what ended it.
};

Total total_of(const analysis::causes::Causes& causes) {
  Total total;
  for (const RankCauses& each : causes.ranks) {
    total.waited += double(each.waited.count());
    total.by_others += double((each.by_others().sum() + each.itself).count());
    total.bandwidth += double(each.bandwidth.count());
    total.transfer += double(each.transfer.count());
    total.unknown += double(each.unknown.count());
    for (std::size_t i = 0; i < total.ended.size(); ++i)
      total.ended[i] += double((each.ended.*analysis::causes::kWaitEnds[i].time).count());
  }
  return total;
}

/// Those that cost others most.
std::vector<Rank> worst_of(const analysis::causes::Causes& causes, double least) {
  std::vector<Rank> ranks;
  const auto cost = [&](Rank rank) { return causes.ranks[std::size_t(rank)].costs.sum(); };
  for (Rank rank = 0; rank < Rank(causes.ranks.size()); ++rank)
    if (cost(rank) > Nanoseconds{0} && double(cost(rank).count()) >= least) ranks.push_back(rank);
  const auto end = ranks.begin() + std::ptrdiff_t(std::min(ranks.size(), kWorst));
  std::ranges::partial_sort(ranks, end, [&](Rank a, Rank b) { return cost(a) != cost(b) ? cost(a) > cost(b) : a < b; });
  ranks.erase(end, ranks.end());
  return ranks;
}

/// The first few, and that there are more.
std::vector<std::string> shown_offsets(const analysis::partners::Partners& partners) {
  std::vector<std::string> shown;
  for (const Rank offset : partners.offsets) {
    if (shown.size() == kShownOffsets) return shown.emplace_back("..."), shown;
    shown.push_back(fmt::format("{:+}", offset));
  }
  return shown;
}

std::string parts_text(const analysis::partners::Partners& partners) {
  const std::size_t parts = partners.of_ranks ? partners.of_ranks->parts() : 1;
  return parts > 1 ? fmt::format(", in one or another of {} parts of the run", parts) : "";
}

std::string whom_text(const analysis::partners::Partners& partners, Rank ranks) {
  if (partners.collective && ranks > 1) return "all others";
  const bool for_all_in_some = ranks > 1 && partners.of_ranks && partners.of_ranks->has_collective_steps();
  if (partners.offsets.empty()) return for_all_in_some ? "all others in some of their steps" : "nobody";
  return fmt::format("the ranks at a distance of {}{}{}{}", fmt::join(shown_offsets(partners), ", "),
                     partners.ring ? ", round the ring" : "", parts_text(partners),
                     for_all_in_some ? ", in some steps for all others" : "");
}

std::string time_text(double nanoseconds) {
  return format_duration(Nanoseconds(std::int64_t(std::min(nanoseconds, 9e18))));
}

/// Outside of steps too.
double waited_in_all(const Timeline& timeline) {
  double sum = 0;
  for (const Rank rank : analysis::steps::heard_ranks(timeline))
    sum += double(timeline.lane(rank)->time_in(timeline::Category::kWait, timeline.begin(), timeline.now()).count());
  return sum;
}

std::string total_text(const Total& total, double in_all) {
  const auto percent = [](double part, double of) { return fmt::format("{:.0f} %", 100 * part / of); };
  const std::string share =
      total.waited > kNearlyAll * in_all ? "" : fmt::format(" in steps ({} of it all)", percent(total.waited, in_all));
  const auto of_waited = [&](double part) { return percent(part, total.waited); };
  return fmt::format(
      "of {} that ranks waited{}: {} for ranks that were late, {} for shared bandwidth, {} for messages (their own, "
      "or of those waited for), {} unknown\n",
      time_text(total.waited), share, of_waited(total.by_others), of_waited(total.bandwidth), of_waited(total.transfer),
      of_waited(total.unknown));
}

/// Nothing where that is not said of any wait for somebody.
std::string ended_text(const Total& total) {
  std::vector<std::string> parts;
  double said = 0;
  bool names_somebody = false;
  for (std::size_t i = 0; i < total.ended.size(); ++i) {
    const analysis::causes::WaitEnd& end = analysis::causes::kWaitEnds[i];
    const double part = total.ended[i];
    said += part;
    names_somebody |= part > 0 && end.time != &analysis::causes::Ended::messages;
    if (part > 0) parts.push_back(fmt::format("{} {:.0f} %", end.words, 100 * part / total.waited));
  }
  if (!names_somebody) return {};
  if (said < kNearlyAll * total.waited)
    parts.push_back(fmt::format("not said {:.0f} %", 100 * (1 - said / total.waited)));
  return fmt::format("  by what ended it: {}\n", fmt::join(parts, ", "));
}

const char* source_text(const analysis::partners::Partners& partners) {
  switch (partners.source) {
    case PartnerSource::kDeclared: return "as they say themselves (declared)";
    case PartnerSource::kPartlyDeclared:
      return "as some say themselves, and the times tell of the others (partly declared)";
    case PartnerSource::kInferred: break;
  }
  return "as the times tell (inferred)";
}

std::string heading(bool has_names, bool is_mostly_unknown) {
  if (is_mostly_unknown)
    return fmt::format("who made others wait is mostly not known{}\n", has_names ? "; of the rest:" : "");
  return fmt::format("who made others wait:{}\n", has_names ? "" : " no rank for long");
}

}  // namespace

json partners_json(const analysis::partners::Partners& partners) {
  if (partners.left_out) return partners.are_known() ? "inferred instead" : "left out";
  if (!partners.are_known()) return {};
  switch (partners.source) {
    case PartnerSource::kDeclared: return "declared";
    case PartnerSource::kPartlyDeclared: return "partly declared";
    case PartnerSource::kInferred: break;
  }
  return "inferred";
}

std::string partners_text(const Timeline& timeline, const analysis::partners::Partners& partners) {
  std::string text = partners.left_out ? "whom ranks say that they wait for is more than fits into the memory for the "
                                         "history: left out\n"
                                       : "";
  if (const auto step = timeline.partners_forgotten_before())
    text += fmt::format("whom ranks waited for before step {} is partly forgotten: they said it too often\n", *step);
  if (!partners.are_known()) return text;
  return text + fmt::format("ranks wait for {}, {}\n", whom_text(partners, timeline.ranks()), source_text(partners));
}

json causes_json(const Timeline& timeline, const analysis::causes::CauseGround& ground) {
  const analysis::causes::Causes causes = analysis::causes::find_causes(timeline, kWholeRun, ground);
  json list = json::array();
  for (Rank rank = 0; rank < Rank(causes.ranks.size()); ++rank) {
    const RankCauses& each = causes.ranks[std::size_t(rank)];
    if (each.waited > Nanoseconds{0} || each.costs.sum() > Nanoseconds{0}) list.push_back(rank_json(rank, each));
  }
  return {{"waits_for_offsets", ground.partners.offsets},
          {"ring", ground.partners.are_known() ? json(ground.partners.ring) : json()},
          {"ranks", std::move(list)}};
}

std::string causes_text(const Timeline& timeline, const analysis::causes::CauseGround& ground) {
  const analysis::causes::Causes causes = analysis::causes::find_causes(timeline, kWholeRun, ground);
  const Total total = total_of(causes);
  const double in_all = waited_in_all(timeline);
  if (total.waited <= 0 && in_all > 0)
    return fmt::format("who made others wait is not known: of {} that ranks waited nothing was in a step\n",
                       time_text(in_all));
  if (total.waited <= 0) return "no rank waited\n";
  const std::vector<Rank> worst = worst_of(causes, kWorthSaying * total.waited);
  std::string text = heading(!worst.empty(), total.unknown > total.waited / 2);
  if (!worst.empty()) text += fmt::format("  {:<10} {:>11} {:>11} {:>11}\n", "", "in all", "direct", "far");
  for (const Rank rank : worst) {
    const Cost& cost = causes.ranks[std::size_t(rank)].costs;
    text += fmt::format("  {:<10} {:>11} {:>11} {:>11}\n", fmt::format("rank {}", rank), format_duration(cost.sum()),
                        format_duration(cost.direct), format_duration(cost.far));
  }
  return text + "  " + total_text(total, in_all) + ended_text(total);
}

}  // namespace idlewave::cli::reporting
