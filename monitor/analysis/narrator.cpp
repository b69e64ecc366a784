#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "monitor/analysis/findings.h"
#include "monitor/analysis/plural.h"

namespace idlewave::analysis {
namespace {

using timeline::Loss;
using timeline::LossKind;
using timeline::Timeline;

constexpr std::size_t kRemarksKept = 500;
constexpr std::size_t kLossesAtOnce = 16;
/// A domain must be seen in a new state so often, in a row, before it is told: refreshes come four times a second.
constexpr int kTimesBeforeTelling = 3;
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

/// Of what is not found any more need not be known what was told of it.
template <class Told, class Found, class KeyOf>
void forget_others(Told& told, const Found& found, KeyOf key_of) {
  if (told.size() <= 2 * found.size() + kRemarksKept) return;
  Told kept;
  for (const auto& each : found)
    if (const auto known = told.find(key_of(each)); known != told.end()) kept.insert(*known);
  told = std::move(kept);
}

bool is_over(const Wave& wave) { return wave.up.end != WaveEnd::kRunning && wave.down.end != WaveEnd::kRunning; }

/// "idle wave from rank 5, which computed 1.2 s longer"; of a delay the list tells besides.
std::string wave_name(const Wave& wave) {
  const std::string name = fmt::format("idle wave from rank {}", wave.origin_rank);
  if (!is_unannounced(wave.cause)) return name;
  return fmt::format("{}, which {}", name, cause_in_words(wave, duration_text(wave.delay)));
}

std::string wave_text(const Wave& wave) {
  if (wave.up.end == WaveEnd::kUnknown && wave.down.end == WaveEnd::kUnknown)
    return fmt::format("how far the idle wave from rank {} came is not known: the steps that would tell are not kept",
                       wave.origin_rank);
  if (wave.up.end == WaveEnd::kFlattened && wave.up.front.empty() && wave.down.front.empty())
    return fmt::format("{}: a collective made {} wait at once", wave_name(wave),
                       plural(std::size_t(wave.up.reach_ranks + wave.down.reach_ranks), "rank"));
  if (met_itself(wave))
    return fmt::format("{}: {} up, {} down, its fronts met at rank {}", wave_name(wave),
                       plural(std::size_t(wave.up.reach_ranks), "rank"), wave.down.reach_ranks, wave.up.end_rank);
  return fmt::format("{}: up {} and {}, down {} and {}", wave_name(wave),
                     plural(std::size_t(wave.up.reach_ranks), "rank"), end_in_words(wave.up),
                     plural(std::size_t(wave.down.reach_ranks), "rank"), end_in_words(wave.down));
}

Nanoseconds last_arrival(const Wave& wave) {
  Nanoseconds last = wave.start + wave.delay;
  if (!wave.up.front.empty()) last = std::max(last, wave.up.front.back().departure);
  if (!wave.down.front.empty()) last = std::max(last, wave.down.front.back().departure);
  return last;
}

/// `domains` have come into the same state together: one or more.
std::string domains_text(const Timeline& timeline, std::span<const DomainActivity* const> domains) {
  const DomainActivity& first = *domains.front();
  const std::string& label = timeline.domains()[std::size_t(first.domain)].info.label;
  const bool one = domains.size() == 1;
  const std::string who = one ? label : fmt::format("{} and {}", label, plural(domains.size() - 1, "other"));
  double active = 0;
  for (const DomainActivity* each : domains) active += each->active_now / double(domains.size());
  switch (first.state) {
    case DomainState::kLockstep:
      return fmt::format("{} {} in lockstep: {:.1f} of {} active", who, one ? "runs" : "run", active, first.ranks);
    case DomainState::kComputational:
      return fmt::format("{} {} desynchronised: {:.1f} of {} active", who, one ? "is" : "are", active, first.ranks);
    case DomainState::kDisturbed: return fmt::format("an idle wave is in {}", who);
    case DomainState::kNotActive: return fmt::format("{} {} no longer active", who, one ? "is" : "are");
    case DomainState::kUnknown: break;
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
                [](const timeline::Delay& delay) { return std::pair(delay.begin, delay.rank); });
  for (const timeline::Delay& delay : timeline.delays()) {
    if (delay.phase != wire::Phase::kDelay) continue;
    const auto [told, is_new] = delays_.try_emplace({delay.begin, delay.rank}, false);
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
    if (!record.answered || record.accepted || !commands_.insert(record.command.id).second) continue;
    tell({Remark::Kind::kCommand, record.sent, -1, wire::kNoStep, "command refused: " + record.reason});
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
  for (std::size_t i = losses.size() - std::min(fresh, kLossesAtOnce); i < losses.size(); ++i) {
    const auto kind = losses[i].kind == LossKind::kRankLost ? Remark::Kind::kRank : Remark::Kind::kLoss;
    tell({kind, losses[i].to, losses[i].rank, wire::kNoStep, to_words(losses[i])});
  }
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

void Narrator::tell_waves(const Findings& findings) {
  forget_others(waves_, findings.waves, [](const Wave& wave) { return std::pair(wave.start, wave.origin_rank); });
  for (const Wave& wave : findings.waves) {
    const auto [told, is_new] = waves_.try_emplace({wave.start, wave.origin_rank}, false);
    if (!is_over(wave) || told->second) continue;
    told->second = true;
    tell({Remark::Kind::kWave, last_arrival(wave), wave.origin_rank, wave.origin_step, wave_text(wave)});
  }
}

bool Narrator::is_news(const DomainActivity& activity) {
  DomainStory& story = domains_[std::size_t(activity.domain)];
  story.times = activity.state == story.seen ? story.times + 1 : 1;
  story.seen = activity.state;
  if (story.seen == story.told || story.times < kTimesBeforeTelling) return false;
  story.told = story.seen;
  return true;
}

void Narrator::tell_domains(const Timeline& timeline, const Findings& findings) {
  domains_.resize(findings.domains.size());
  std::map<DomainState, std::vector<const DomainActivity*>> news;
  for (const DomainActivity& activity : findings.domains)
    if (is_news(activity)) news[activity.state].push_back(&activity);
  for (const auto& [state, domains] : news) {
    const std::size_t together = domains.size() > kToldOneByOne ? domains.size() : 1;
    for (std::size_t i = 0; i < domains.size(); i += together) {
      const std::string text = domains_text(timeline, std::span(domains).subspan(i, together));
      if (!text.empty()) tell({Remark::Kind::kDomain, findings.window.to, -1, wire::kNoStep, text});
    }
  }
}

void Narrator::observe(const Timeline& timeline, const Findings& findings) {
  tell_delays(timeline);
  tell_commands(timeline);
  tell_losses(timeline);
  tell_silence(findings.missing, timeline.now());
  tell_waves(findings);
  tell_domains(timeline, findings);
}

}  // namespace idlewave::analysis
