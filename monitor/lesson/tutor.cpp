#include "monitor/lesson/tutor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "monitor/analysis/plural.h"
#include "monitor/analysis/session/step_times.h"
#include "probe/words/noise.h"
#include "probe/words/quantity.h"
#include "probe/words/text.h"

namespace idlewave::lesson {
namespace {

using analysis::domains::DomainStates;
using support::Json;
using support::PageAfter;

constexpr int kSlices = 5;

/// Of ranks that are held as the page has it; of noise, of the same kind and size.
bool is_what_is_asked(const wire::Command& given, const wire::Command& wanted) {
  const auto* hold = std::get_if<wire::DelayOrder>(&wanted.order);
  const auto* given_hold = std::get_if<wire::DelayOrder>(&given.order);
  if (hold) return given_hold && given_hold->duration == hold->duration && given.ranks == wanted.ranks;
  const auto* noise = std::get_if<wire::NoiseOrder>(&wanted.order);
  const auto* given_noise = std::get_if<wire::NoiseOrder>(&given.order);
  return noise && given_noise && words::to_words(*noise) == words::to_words(*given_noise);
}

std::string order_in_words(const wire::Command& order) {
  if (const auto* hold = std::get_if<wire::DelayOrder>(&order.order))
    return fmt::format("press i, Enter and y: hold rank {} for {}", order.ranks.front(),
                       words::format_duration(hold->duration));
  return fmt::format("press n, Enter and y: noise {} in all ranks",
                     words::to_words(std::get<wire::NoiseOrder>(order.order)));
}

bool has_ended(const analysis::waves::Wave& wave) {
  return wave.up.end != analysis::waves::WaveEnd::kRunning && wave.down.end != analysis::waves::WaveEnd::kRunning;
}

std::string seconds_in_words(Nanoseconds span) {
  return fmt::format("{} s", std::chrono::duration_cast<std::chrono::seconds>(span).count());
}

/// When a domain last changed its state; nothing while a wave is in it, or nothing is known.
std::optional<Nanoseconds> settled_since(const DomainStates& states, int domains, Nanoseconds now) {
  Nanoseconds latest{};
  for (int domain = 0; domain < domains; ++domain) {
    const analysis::domains::StateChange* change = states.at(domain, now);
    if (!change || change->state == analysis::domains::DomainState::kDisturbed ||
        change->state == analysis::domains::DomainState::kBereft)
      return std::nullopt;
    latest = std::max(latest, change->at);
  }
  return latest;
}

/// "Socket 2 is not in lockstep" of the first that is not, with the number of others. Of `sockets`; where those are none,
/// of all domains.
std::string out_of_lockstep(const DomainStates& states, const std::vector<int>& sockets, int domains, Nanoseconds now) {
  int first = -1, others = -1;
  for (int domain = 0; domain < domains; ++domain) {
    if (!sockets.empty() && std::ranges::find(sockets, domain) == sockets.end()) continue;
    const analysis::domains::StateChange* change = states.at(domain, now);
    if (change && (change->state == analysis::domains::DomainState::kLockstep ||
                   change->state == analysis::domains::DomainState::kAlone))
      continue;
    if (first < 0) first = domain;
    ++others;
  }
  if (first < 0) return "";
  const std::string more = others > 0 ? fmt::format(", nor {} {} more", others == 1 ? "is" : "are", others) : "";
  return fmt::format("Socket {} is not in lockstep{}", first, more);
}

/// Standard error of the mean over parts of a window.
std::optional<double> spread_of(const std::vector<double>& parts) {
  if (int(parts.size()) < kSlices) return std::nullopt;
  double mean = 0, square = 0;
  for (const double part : parts) mean += part / kSlices;
  for (const double part : parts) square += (part - mean) * (part - mean);
  return std::sqrt(square / (kSlices - 1) / kSlices);
}

std::string letter_of(std::size_t choice) { return std::string(1, char('a' + choice)); }

/// By its letter, or as it is written.
std::optional<std::string> choice_in(std::string_view text, const std::vector<std::string>& choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (text == choices[i] || text == letter_of(i)) return choices[i];
  }
  return std::nullopt;
}

std::string question_in_words(const Question& ask) {
  std::string words = ask.question;
  for (std::size_t i = 0; i < ask.choices.size(); ++i) words += fmt::format(" {}) {}", letter_of(i), ask.choices[i]);
  return words;
}

bool is_near(const Question& ask, const Value& answer, const Value& truth) {
  if (!ask.choices.empty()) return answer == truth;
  return std::abs(std::get<double>(answer) - std::get<double>(truth)) <= ask.tolerance;
}

std::string outcome_in_words(const Check& check, const Outcome& outcome) {
  const std::string_view unit = check.figure.figure->unit;
  std::string words = fmt::format("{}: measured {}, theory {}", check.figure.heading(), in_words(outcome.now, unit),
                                  theory_in_words(check));
  if (check.before) words += fmt::format("; before that {}", in_words(outcome.beside, unit));
  if (check.beside)
    words += fmt::format("; {} {}", check.beside->label(), in_words(outcome.beside, check.beside->figure->unit));
  return words + ".";
}

}  // namespace

std::string in_words(const Measured& measured, std::string_view unit) {
  return measured.value ? in_words(*measured.value, measured.error, unit) : "nothing";
}

std::string_view to_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNear: return "near";
    case Verdict::kFar: return "far";
    case Verdict::kNone: break;
  }
  return "none";
}

Tutor::Tutor(Course course, Finding find)
    : course_(std::move(course)), find_(std::move(find)), records_(course_.pages.size()) {}

Stage Tutor::stage_of(std::size_t index) const {
  const Page& page = course_.pages[index];
  const PageRecord& record = records_[index];
  if (record.verdict) return Stage::kSaid;
  if (page.ask && !record.answer) return Stage::kAsk;
  if (page.order && record.command == 0) return Stage::kDo;
  if (page.order && !record.began) return Stage::kSent;
  return page.checks.empty() ? Stage::kRead : Stage::kWatch;
}

Stage Tutor::stage() const { return stage_of(index_); }

/// Stays where there is none in that direction.
std::size_t Tutor::next(std::size_t from, int direction) const {
  const auto is_open = [&](std::size_t i) {
    const PageAfter after = course_.pages[i].after;
    if (after == PageAfter::kAny) return true;
    const auto verdict = i == 0 ? std::nullopt : records_[i - 1].verdict;
    if (!verdict) return false;
    return after == (*verdict == Verdict::kNear  ? PageAfter::kNear
                     : *verdict == Verdict::kFar ? PageAfter::kFar
                                                 : PageAfter::kNone);
  };
  for (std::size_t i = from + std::size_t(direction); i < course_.pages.size(); i += std::size_t(direction)) {
    if (is_open(i)) return i;
  }
  return from;
}

void Tutor::turn(int pages) {
  if (course_.pages.empty()) return;
  if (pages > 0 && stage() == Stage::kAsk) return;
  index_ = next(index_, pages > 0 ? 1 : -1);
}

wire::Status Tutor::answer(std::string_view given) {
  if (stage() != Stage::kAsk) return wire::Error{"nothing is asked here"};
  const Question& ask = *page().ask;
  PageRecord& record = records_[index_];
  const std::string_view text = words::trimmed(given);
  Value value;
  if (ask.choices.empty()) {
    const auto number = parse_answer(text, ask.unit);
    if (!number) return number.error();
    value = *number;
  } else {
    const auto choice = choice_in(text, ask.choices);
    if (!choice) return wire::Error{"answer by " + expected()};
    value = *choice;
  }
  record.answers.emplace_back(text);
  const bool may_try_again = !ask.hint.empty() && !record.hinted && !is_near(ask, value, ask.answer);
  if (may_try_again)
    record.hinted = true;
  else
    record.answer = std::move(value);
  return wire::ok();
}

void Tutor::ordered(const wire::Command& command) {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const bool waits = i == index_ && (stage_of(i) == Stage::kDo || stage_of(i) == Stage::kSent);
    if (!waits || !is_what_is_asked(command, *course_.pages[i].order)) continue;
    records_[i].command = command.id;
    records_[i].sent = now_;
    records_[i].broken_premise = premise_;
  }
}

void Tutor::observe(const timeline::Timeline& timeline, std::span<const analysis::waves::Wave> waves,
                    const DomainStates& states) {
  now_ = timeline.now();
  if (course_.pages.empty() || timeline.empty()) return;
  for (std::size_t i = 0; i < records_.size(); ++i) watch(i, timeline, waves, states);
  const bool is_before = stage() == Stage::kAsk || stage() == Stage::kDo;
  if (const auto skipped = skipped_page())
    premise_ = fmt::format("What page {} asks for was not {}, and this page may speak of what it does", *skipped + 1,
                           records_[*skipped].verdict ? "seen to do what it should" : "ordered");
  else
    premise_ = page().needs_lockstep && is_before
                   ? out_of_lockstep(states, page().lockstep_sockets, int(timeline.domains().size()), now_)
                   : "";
}

std::optional<std::size_t> Tutor::skipped_page() const {
  if (stage() == Stage::kSaid) return std::nullopt;
  std::optional<std::size_t> skipped;
  for (std::size_t i = index_, before = next(i, -1); before != i; before = next(i, -1)) {
    i = before;
    const bool is_unseen = stage_of(i) == Stage::kDo || records_[i].verdict == Verdict::kNone;
    if (course_.pages[i].order && is_unseen) skipped = i;
  }
  return skipped;
}

void Tutor::watch(std::size_t index, const timeline::Timeline& timeline, std::span<const analysis::waves::Wave> waves,
                  const DomainStates& states) {
  const Page& page = course_.pages[index];
  PageRecord& record = records_[index];
  if (stage_of(index) == Stage::kSent) await_effect(index, timeline);
  if (stage_of(index) != Stage::kWatch) return;
  if (!page.order && !record.began && index == index_) record.began = now_;
  if (!record.began) return;
  if (page.watch->program_ended) return await_end(index, timeline);
  const auto wave = std::find_if(waves.begin(), waves.end(),
                                 [&](const analysis::waves::Wave& w) { return w.command == record.command; });
  const bool is_calm = !page.watch->wave_ended || (wave != waves.end() && has_ended(*wave));
  if (is_calm && !record.calm_since) record.calm_since = now_;
  if (!is_calm) record.calm_since.reset();
  const auto settled = settled_since(states, int(timeline.domains().size()), now_);
  const Nanoseconds since = std::max({record.calm_since.value_or(now_), settled.value_or(now_), *record.began});
  if (is_calm && settled && now_ - since >= page.watch->stable)
    return measure(index, {std::max(now_ - page.watch->stable, Nanoseconds{0}), now_}, timeline);
  const bool is_over = timeline.ended();
  if (!is_over && now_ - *record.began < page.watch->at_most) return;
  if (!is_calm || is_over)
    close(index, now_,
          is_over               ? "the program ended before it could be measured"
          : wave == waves.end() ? "no wave of that was seen in time"
                                : "the wave had not ended in time");
  else
    measure(index, {std::max(now_ - page.watch->stable, Nanoseconds{0}), now_}, timeline);
}

void Tutor::await_effect(std::size_t index, const timeline::Timeline& timeline) {
  PageRecord& record = records_[index];
  for (const timeline::CommandRecord& each : timeline.commands()) {
    if (each.command.id != record.command) continue;
    if (each.in_effect) record.began = each.began();
    if (each.answered && !each.accepted) record.command = 0;
  }
  if (stage_of(index) != Stage::kSent) return;
  const auto& until = course_.pages[index].watch;
  if (now_ - *record.sent >= (until ? until->at_most : support::kUsuallyAtMost))
    close(index, now_, "what was ordered did not take effect in time");
}

void Tutor::program_ended(Json results) { results_ = std::move(results); }

void Tutor::await_end(std::size_t index, const timeline::Timeline& timeline) {
  if (results_) {
    if (results_->is_null()) return close(index, now_, "the program did not come to its end");
    return measure(index, {timeline.begin(), now_}, timeline);
  }
  if (now_ - *records_[index].began >= course_.pages[index].watch->at_most)
    close(index, now_, "the program had not ended in time");
}

Measured Tutor::look(const FigurePath& figure, Window window) const {
  const bool of_program = figure.path.starts_with(support::kOfProgram);
  const Json found = of_program ? results_->at(std::string_view(figure.path).substr(support::kOfProgram.size()))
                                : find_(figure.path, window);
  if (const auto word = found.as_text()) return {.value = *word, .error = {}};
  const auto number = found.as_number();
  if (!number) return {};
  Measured measured{.value = *number, .error = {}};
  if (figure.figure->error == ErrorKind::kBeside) measured.error = find_(figure.path + "_error", window).as_number();
  if (figure.figure->error != ErrorKind::kOverTime) return measured;
  std::vector<double> parts;
  const Nanoseconds slice = (window.to - window.from) / kSlices;
  for (int i = 0; i < kSlices; ++i) {
    const Nanoseconds from = window.from + i * slice;
    if (const auto part = find_(figure.path, {from, from + slice}).as_number()) parts.push_back(*part);
  }
  measured.error = spread_of(parts);
  return measured;
}

Outcome Tutor::measure(const Check& check, const PageRecord& record, Window window) const {
  Outcome outcome{.now = look(check.figure, window), .beside = {}};
  const Nanoseconds length = window.to - window.from;
  if (check.before && record.began) outcome.beside = look(check.figure, {*record.began - length, *record.began});
  if (check.beside) outcome.beside = look(*check.beside, window);
  outcome.holds = outcome.now.value && holds(check, *outcome.now.value);
  return outcome;
}

void Tutor::measure(std::size_t index, Window window, const timeline::Timeline& timeline) {
  PageRecord& record = records_[index];
  for (const Check& check : course_.pages[index].checks) record.outcomes.push_back(measure(check, record, window));
  const bool is_blank = !record.outcomes.front().now.value;
  record.is_gone = is_blank && analysis::session::has_unknown_steps(timeline, {*record.began, now_});
  close(index, now_,
        record.is_gone ? fmt::format("not all is kept of the {} since then; --memory gives room",
                                     seconds_in_words(now_ - *record.began))
                       : "");
}

void Tutor::close(std::size_t index, Nanoseconds now, std::string why_none) {
  const Page& page = course_.pages[index];
  PageRecord& record = records_[index];
  record.measured_at = now;
  record.why_none = std::move(why_none);
  const bool is_seen = !record.outcomes.empty() && std::ranges::all_of(record.outcomes, &Outcome::holds);
  if (!is_seen) {
    record.verdict = Verdict::kNone;
  } else if (!page.ask) {
    record.verdict = Verdict::kNear;
  } else {
    const Value& truth = page.ask->choices.empty() ? *record.outcomes.front().now.value : page.ask->answer;
    record.verdict = is_near(*page.ask, *record.answer, truth) ? Verdict::kNear : Verdict::kFar;
  }
}

std::string Tutor::premise_in_words() const {
  if (premise_.empty()) return "";
  if (const auto skipped = skipped_page())
    return premise_ + (records_[*skipped].verdict ? "." : ": go back to it with Backspace.");
  return premise_ + ": wait, or press c to end noise and delays." +
         (course_.advice.empty() ? "" : " " + course_.advice);
}

std::string Tutor::locked() const {
  if (course_.pages.empty()) return "";
  return stage() == Stage::kAsk ? "the lesson asks something first: Enter, then your answer" : "";
}

std::string Tutor::expected() const {
  if (!page().ask) return "";
  const Question& ask = *page().ask;
  if (!ask.choices.empty()) return fmt::format("a letter, a to {}", letter_of(ask.choices.size() - 1));
  if (ask.unit == "B") return "a size with its unit, as in 10 kB";
  return ask.unit == "s" || ask.unit == "s/rank"
             ? fmt::format("a time with its unit, as in {}", ask.unit == "s" ? "400 ms" : "25 ms/rank")
             : fmt::format("a number in {}", ask.unit);
}

std::string Tutor::watching_in_words() const {
  const PageRecord& record = records_[index_];
  const Nanoseconds so_far = now_ - record.began.value_or(now_);
  const std::string watching = fmt::format("Watching, {}: until ", seconds_in_words(so_far));
  if (page().watch->program_ended) return watching + "the program has ended.";
  if (page().watch->wave_ended && !record.calm_since) return watching + "the wave has ended.";
  return fmt::format("{}all sockets keep their state for {}.", watching, seconds_in_words(page().watch->stable));
}

std::string Tutor::verdict_in_words() const { return stage() == Stage::kSaid ? found_in_words(false) : ""; }

std::string Tutor::found_in_words(bool with_figures) const {
  const PageRecord& record = records_[index_];
  std::string words;
  if (page().ask && record.answer)
    words += fmt::format("You said {}. ", in_words(*record.answer, {}, page().ask->unit));
  for (std::size_t i = 0; with_figures && i < record.outcomes.size(); ++i)
    words += outcome_in_words(page().checks[i], record.outcomes[i]) + " ";
  if (!record.broken_premise.empty())
    words += fmt::format("When that was ordered: {}, so this need not be the work of it. ", record.broken_premise);
  if (!record.why_none.empty()) words += fmt::format("Nothing was measured: {}. ", record.why_none);
  switch (*record.verdict) {
    case Verdict::kNear: return words + page().say.near;
    case Verdict::kFar: return words + page().say.far;
    case Verdict::kNone:
      // Both speak of the program.
      if (!record.is_gone) words += page().say.none + " " + course_.advice;
      break;
  }
  return std::string(words::trimmed(words));
}

std::string Tutor::words() const {
  if (course_.pages.empty()) return "";
  const PageRecord& record = records_[index_];
  switch (stage()) {
    case Stage::kRead: return skipped_page() ? premise_in_words() : "";
    case Stage::kAsk: {
      // Sockets may still fall into step before the order; that nobody was held stays so, and is said at once.
      const std::string premise = skipped_page() ? " " + premise_in_words() : "";
      const std::string question = question_in_words(*page().ask) + premise;
      return record.hinted
                 ? fmt::format("You said {}. A hint: {} {}", record.answers.back(), page().ask->hint, question)
                 : question;
    }
    case Stage::kDo: {
      std::string order = order_in_words(*page().order);
      order.front() = char(std::toupper(static_cast<unsigned char>(order.front())));
      return order + "." + (premise_.empty() ? "" : " " + premise_in_words());
    }
    case Stage::kSent:
      return page().order->ranks.empty() ? "Sent; it takes effect before each rank's next step."
                                         : "Sent; it takes effect before the rank's next step.";
    case Stage::kWatch: return watching_in_words();
    case Stage::kSaid: return found_in_words(true);
  }
  return "";
}

}  // namespace idlewave::lesson
