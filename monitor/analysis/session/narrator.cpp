#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "monitor/analysis/plural.h"
#include "monitor/analysis/session/findings.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::session {
namespace {

using timeline::Loss;
using timeline::LossKind;
using timeline::Timeline;

constexpr std::size_t kRemarksKept = 500;
constexpr std::size_t kLossesAtOnce = 16;
/// More domains than these that change together are one remark.
constexpr std::size_t kToldOneByOne = 4;

std::string duration_text(Nanoseconds duration) {
  const double seconds = double(duration.count()) * 1e-9;
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string delay_text(const timeline::Delay& delay) {
  const std::string where = delay.step == wire::kNoStep ? std::string() : fmt::format(", step {}", delay.step);
  if (!delay.ended) return fmt::format("delay began on rank {}{}", delay.rank, where);
  return fmt::format("delay of {} on rank {} is over", duration_text(delay.end - delay.begin), delay.rank);
}

/// That order ended noise which held until then.
bool has_ended_noise(const Timeline& timeline, const timeline::CommandRecord& record) {
  return record.accepted && std::ranges::any_of(timeline.commands(), [&](const timeline::CommandRecord& each) {
           return each.accepted && each.superseded_by == record.command.id;
         });
}

/// What there is to say of an order beside what it does; empty: nothing.
std::string words_of(const Timeline& timeline, const timeline::CommandRecord& record) {
  if (record.answered && !record.accepted) return "command refused: " + record.reason;
  const auto* clear = std::get_if<wire::ClearOrder>(&record.command.order);
  const bool giver_has_gone = clear != nullptr && clear->noise_of != 0;
  return giver_has_gone && has_ended_noise(timeline, record) ? "noise is over: who ordered it has left" : "";
}

/// Of what is not found any more need not be known what was told of it.
template <class Told, class Found, class KeyOf>
void forget_others(Told& told, const Found& found, KeyOf key_of) {
  if (told.size() <= 2 * found.size() + kRemarksKept) return;
  Told kept;
  for (const auto& each : found)
    if (const auto known = told.find(key_of(each)); known != told.end()) kept.insert(*known);
  told = std::move(kept);
}

bool is_over(const waves::Wave& wave) {
  return wave.up.end != waves::WaveEnd::kRunning && wave.down.end != waves::WaveEnd::kRunning;
}

/// "idle wave from rank 5, which computed 1.2 s longer"; of a delay the list tells besides.
std::string wave_name(const waves::Wave& wave) {
  const std::string name = fmt::format("idle wave from rank {}", wave.origin_rank);
  if (!waves::is_unannounced(wave.cause)) return name;
  return fmt::format("{}, which {}", name, waves::cause_in_words(wave, duration_text(wave.delay)));
}

std::string wave_text(const waves::Wave& wave) {
  if (wave.up.end == waves::WaveEnd::kUnknown && wave.down.end == waves::WaveEnd::kUnknown)
    return fmt::format("how far the idle wave from rank {} came is not known: the steps that would tell are not kept",
                       wave.origin_rank);
  if (wave.up.end == waves::WaveEnd::kFlattened && wave.up.front.empty() && wave.down.front.empty())
    return fmt::format("{}: {} waited for it at once, as in a collective", wave_name(wave),
                       plural(std::size_t(wave.up.reach_ranks + wave.down.reach_ranks), "rank"));
  if (waves::met_itself(wave))
    return fmt::format("{}: {} up, {} down, its fronts met at rank {}", wave_name(wave),
                       plural(std::size_t(wave.up.reach_ranks), "rank"), wave.down.reach_ranks, wave.up.end_rank);
  return fmt::format("{}: up {} and {}, down {} and {}", wave_name(wave),
                     plural(std::size_t(wave.up.reach_ranks), "rank"), waves::end_in_words(wave.up, wave.origin_rank),
                     plural(std::size_t(wave.down.reach_ranks), "rank"),
                     waves::end_in_words(wave.down, wave.origin_rank));
}

/// No rank runs any more, or not yet again: the program is over, which is no news of a domain.
bool nobody_runs(const Timeline& timeline, Nanoseconds at) {
  return std::ranges::all_of(steps::heard_ranks(timeline),
                             [&](Rank rank) { return steps::was_silent(*timeline.lane(rank), at); });
}

Nanoseconds last_arrival(const waves::Wave& wave) {
  Nanoseconds last = wave.start + wave.delay;
  if (!wave.up.front.empty()) last = std::max(last, wave.up.front.back().departure);
  if (!wave.down.front.empty()) last = std::max(last, wave.down.front.back().departure);
  return last;
}

/// What became of a domain.
struct News {
  int domain = 0;
  const domains::StateChange* change = nullptr;
};

/// Of domains that have come into the same state together: one or more. Empty where the state is no news: of a rank alone its waves tell.
std::string news_text(const Timeline& timeline, std::span<const News> news) {
  const timeline::Domain& first = timeline.domains()[std::size_t(news.front().domain)];
  const bool one = news.size() == 1;
  const std::string name = timeline.name_of_domain(news.front().domain);
  const std::string who = one ? name : fmt::format("{} and {}", name, plural(news.size() - 1, "other"));
  double active = 0;
  for (const News& each : news) active += each.change->active / double(news.size());
  const auto standing = [&](const char* is, const char* are) {
    return fmt::format("{} {}: {:.1f} of {} active", who, one ? is : are, active, first.ranks.size());
  };
  switch (news.front().change->state) {
    case domains::DomainState::kLockstep: return standing("runs in lockstep", "run in lockstep");
    case domains::DomainState::kSkewed: return standing("is skewed by noise", "are skewed by noise");
    case domains::DomainState::kComputational:
      return standing("is in a computational wave", "are in computational waves");
    case domains::DomainState::kStraggler:
      return one ? fmt::format("rank {} works longer than the others of {}, step after step",
                               news.front().change->straggler, who)
                 : fmt::format("{} have one rank each that works longer than the others, step after step", who);
    case domains::DomainState::kDisturbed: return fmt::format("an idle wave is in {}", who);
    case domains::DomainState::kNotActive: return fmt::format("{} {} no longer active", who, one ? "is" : "are");
    case domains::DomainState::kBereft: return fmt::format("{} {}, and ranks are lost", who, one ? "waits" : "wait");
    case domains::DomainState::kAlone:
    case domains::DomainState::kStepsDiffer:
    case domains::DomainState::kUnknown: break;
  }
  return {};
}

}  // namespace

void Narrator::tell(Remark remark) {
  const auto after = std::upper_bound(remarks_.begin(), remarks_.end(), remark.at,
                                      [](Nanoseconds at, const Remark& other) { return at < other.at; });
  remarks_.insert(after, std::move(remark));
  if (remarks_.size() > kRemarksKept) remarks_.erase(remarks_.begin());
}

void Narrator::tell_delays(const Timeline& timeline) {
  forget_others(delays_, timeline.delays(),
                [](const timeline::Delay& delay) { return std::pair(delay.begin.as_told(), delay.rank); });
  for (const timeline::Delay& delay : timeline.delays()) {
    if (delay.phase != wire::Phase::kDelay) continue;
    const auto [told, is_new] = delays_.try_emplace({delay.begin.as_told(), delay.rank}, false);
    timeline::Delay began = delay;
    began.ended = false;
    if (is_new) tell({Remark::Kind::kDelay, delay.begin, delay.rank, delay.step, delay_text(began)});
    if (delay.ended && !told->second) {
      told->second = true;
      tell({Remark::Kind::kDelay, delay.end, delay.rank, delay.step, delay_text(delay)});
    }
  }
}

void Narrator::tell_commands(const Timeline& timeline) {
  for (const timeline::CommandRecord& record : timeline.commands()) {
    if (commands_.contains(record.command.id)) continue;
    const std::string told = words_of(timeline, record);
    if (told.empty()) continue;
    commands_.insert(record.command.id);
    tell({Remark::Kind::kCommand, record.sent, -1, wire::kNoStep, told});
  }
}

void Narrator::tell_losses(const Timeline& timeline) {
  const auto& losses = timeline.losses();
  std::uint64_t total = 0;
  for (const Loss& loss : losses) total += loss.count;
  const bool grew = total != losses_told_;
  // The list is bounded and merges what continues, so that growth may show in the newest entry alone.
  const std::size_t fresh = losses.size() > losses_seen_ ? losses.size() - losses_seen_
                            : grew && !losses.empty()    ? 1
                                                         : 0;
  losses_told_ = total;
  losses_seen_ = losses.size();
  std::vector<LostRank> lost;
  for (std::size_t i = losses.size() - fresh; i < losses.size(); ++i) {
    if (losses[i].kind == LossKind::kRankLost)
      lost.push_back({losses[i].to, losses[i].rank});
    else if (losses.size() - i <= kLossesAtOnce)
      tell({Remark::Kind::kLoss, losses[i].to, losses[i].rank, wire::kNoStep, to_words(losses[i])});
  }
  // A launcher ends all others when one is gone: told is who was first.
  std::ranges::sort(lost);
  if (!lost.empty())
    tell({Remark::Kind::kRank, lost.front().at, lost.front().rank, wire::kNoStep, "lost: " + to_words(lost)});
}

void Narrator::tell_silence(const Missing& missing, Nanoseconds now) {
  std::set<std::string> silent;
  for (const Missing::Node& node : missing.nodes) {
    if (!node.behind) continue;
    silent.insert(node.name);
    if (!silent_.contains(node.name))
      tell({Remark::Kind::kLoss, node.heard_until, -1, wire::kNoStep, fmt::format("node {} fell silent", node.name)});
  }
  for (const std::string& name : silent_)
    if (!silent.contains(name))
      tell({Remark::Kind::kLoss, now, -1, wire::kNoStep, fmt::format("node {} is heard again", name)});
  silent_ = std::move(silent);
}

void Narrator::observe_waves(std::span<const waves::Wave> waves) {
  forget_others(waves_, waves, [](const waves::Wave& wave) { return std::pair(wave.start, wave.origin_rank); });
  for (const waves::Wave& wave : waves) {
    const auto [told, is_new] = waves_.try_emplace({wave.start, wave.origin_rank}, false);
    if (!is_over(wave) || told->second) continue;
    told->second = true;
    tell({Remark::Kind::kWave, last_arrival(wave), wave.origin_rank, wave.origin_step, wave_text(wave)});
  }
}

void Narrator::observe_counts(const std::optional<partners::UnlikeCounts>& counts) {
  if (!counts || std::exchange(counts_told_, true)) return;
  tell({Remark::Kind::kLoss, counts->at, counts->rank, counts->step, to_words(*counts)});
}

void Narrator::tell_domains(const Timeline& timeline, const domains::DomainStates& states, Nanoseconds until) {
  std::map<std::pair<Nanoseconds, domains::DomainState>, std::vector<News>> all;
  for (int domain = 0; domain < int(timeline.domains().size()); ++domain)
    for (const domains::StateChange& change : states.changes(domain))
      if (change.at > domains_told_until_ && change.at <= until &&
          !(counts_told_ && domains::goes_by_steps(change.state)))
        all[{change.at, change.state}].push_back({domain, &change});
  for (const auto& [when, news] : all) {
    if (when.second == domains::DomainState::kNotActive && nobody_runs(timeline, when.first)) continue;
    const std::size_t together = news.size() > kToldOneByOne ? news.size() : 1;
    for (std::size_t i = 0; i < news.size(); i += together) {
      const std::string told = news_text(timeline, std::span(news).subspan(i, together));
      if (told.empty()) break;
      tell({Remark::Kind::kDomain, when.first, news[i].change->straggler, wire::kNoStep, told});
    }
  }
  domains_told_until_ = std::max(domains_told_until_, until);
}

void Narrator::observe(const Timeline& timeline, const Findings& findings, const domains::DomainStates& states,
                       Nanoseconds until) {
  tell_delays(timeline);
  tell_commands(timeline);
  tell_losses(timeline);
  tell_silence(findings.missing, timeline.now());
  tell_domains(timeline, states, until);
}

}  // namespace idlewave::analysis::session
