#include "monitor/view/keys/forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/keys/input.h"
#include "monitor/view/keys/prediction.h"
#include "monitor/view/layout/movement.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"
#include "probe/words/noise.h"
#include "probe/words/quantity.h"
#include "probe/words/ranks.h"
#include "probe/words/text.h"

namespace idlewave::view::keys {

namespace {

using layout::Turn;

constexpr std::size_t kLongestInput = 64, kLongestNoise = 240;
constexpr int kLongestProgram = 24;
constexpr Nanoseconds kUsualDelay = std::chrono::milliseconds(250);

std::string in_words(const wire::Command& command, Rank ranks) {
  if (const auto* delay = std::get_if<wire::DelayOrder>(&command.order)) {
    return fmt::format("inject {} into rank {}?", paint::to_duration(delay->duration),
                       paint::ranks_in_words(command.ranks));
  }
  if (const auto* noise = std::get_if<wire::NoiseOrder>(&command.order))
    return fmt::format("noise {} into {}, until c or you leave?", words::to_words(*noise),
                       ranks == 1 ? "the one rank" : fmt::format("all {} ranks", ranks));
  return "clear?";
}

/// Replaces the form by one that shows the command and waits for y or n.
void ask_to_confirm(State& state, wire::Command command) {
  state.form = Form{.kind = FormKind::kConfirm, .command = std::move(command)};
}

void complain(State& state, const wire::Error& error) { state.form->complaint = error.message; }

void submit_duration(Turn& turn) {
  const auto duration = words::parse_hold(turn.state.form->text);
  if (!duration) return complain(turn.state, duration.error());
  ask_to_confirm(turn.state, {.ranks = {turn.state.form->rank}, .order = wire::DelayOrder{.duration = *duration}});
}

void submit_noise(Turn& turn) {
  const std::string& text = turn.state.form->text;
  if (words::names_trace(text)) return static_cast<void>(turn.effects.emplace_back(ReadNoise{text}));
  take_noise(turn.state, words::parse_order_of_noise(text));
}

void submit_filter(Turn& turn) {
  State& state = turn.state;
  const Rank ranks = turn.model.timeline.ranks();
  std::vector<RankRange> shown;
  if (!words::trimmed(state.form->text).empty()) {
    const auto ranges = words::parse_ranks(state.form->text, ranks);
    if (!ranges) return complain(state, ranges.error());
    shown = *ranges;
  }
  state.form.reset();
  state.filter = std::move(shown);
  state.first_rank = state.ranks_shown = 0;
  layout::move_in_ranks(state, turn.model, 0);
}

/// A replay is read up to there, and shows it; what is paused stays so there.
void seek(Turn& turn, Nanoseconds at) {
  turn.effects.emplace_back(ReplaySeek{at});
  turn.state.follow = true;
  turn.state.cursor_time.reset();
  turn.state.paused_at = at;
}

void go(Turn& turn, Nanoseconds at) {
  turn.state.form.reset();
  const Nanoseconds now = turn.model.timeline.now();
  if (turn.model.session.replay && at > now) return seek(turn, at);
  if (turn.state.paused && at >= turn.state.paused_at)
    turn.state.paused_at = std::min(at + turn.layout.window.column, now);
  layout::visit_time(turn, at);
}

void go(Turn& turn, Rank rank) {
  turn.state.form.reset();
  layout::visit_rank(turn.state, rank, turn.model.timeline.ranks());
}

void go(Turn& turn, wire::Step step) {
  const timeline::Lane* lane = turn.model.timeline.lane(turn.state.cursor_rank);
  const auto record = lane == nullptr ? std::nullopt : lane->step(step);
  if (!record && lane != nullptr && !lane->steps().empty() && step > lane->steps().back().step)
    return complain(turn.state, {fmt::format("rank {} has come to step {}, not to {}", turn.state.cursor_rank,
                                             lane->steps().back().step, step)});
  if (!record)
    return complain(turn.state, {fmt::format("step {} of rank {} is not kept", step, turn.state.cursor_rank)});
  go(turn, record->begin);
}

void submit_goto(Turn& turn) {
  const auto place = parse_place(turn.state.form->text, turn.model.timeline.ranks());
  if (!place) return complain(turn.state, place.error());
  std::visit([&turn](const auto& where) { go(turn, where); }, *place);
}

constexpr Nanoseconds kSentIsNews = std::chrono::seconds(3);

void send(Turn& turn) {
  wire::Command command = std::move(turn.state.form->command);
  turn.state.form.reset();
  turn.say("sent; it is on the map once it took effect");
  turn.state.message.until = turn.model.timeline.now() + kSentIsNews;
  turn.effects.emplace_back(SendCommand{std::move(command)});
}

void submit(Turn& turn) {
  switch (turn.state.form->kind) {
    case FormKind::kInject: return submit_duration(turn);
    case FormKind::kNoise: return submit_noise(turn);
    case FormKind::kConfirm: return send(turn);
    case FormKind::kGoto: return submit_goto(turn);
    case FormKind::kFilter: return submit_filter(turn);
    case FormKind::kAnswer: return static_cast<void>(turn.effects.emplace_back(AnswerLesson{turn.state.form->text}));
    case FormKind::kQuit: return;  // Enter is too easily pressed for this.
  }
}

void leave(Turn& turn, Effect how) {
  turn.state.form.reset();
  turn.effects.push_back(std::move(how));
}

void answer_whether_to_quit(Turn& turn) {
  const char32_t c = turn.key.character;
  const bool is_over = turn.model.session.ends_with_us.empty();  // It ended while we asked.
  if (c == U'y' || c == U'Y' || (is_over && c == U'q')) return leave(turn, Quit{});
  if (c == U'd' || c == U'D') return leave(turn, Detach{});
  if (c == U'n' || c == U'N') turn.state.form.reset();
}

void answer(Turn& turn) {
  const char32_t c = turn.key.character;
  if (c == U'y' || c == U'Y') return send(turn);
  if (c == U'n' || c == U'N') turn.state.form.reset(), turn.say("nothing was sent");
}

void type(Form& form, const Key& key) {
  if (key.control || key.character < U' ' || key.character > U'~') return;
  if (form.untouched) form.text.clear();
  const std::size_t longest = form.kind == FormKind::kNoise ? kLongestNoise : kLongestInput;
  if (form.text.size() < longest) form.text += static_cast<char>(key.character);
  form.untouched = false;
  form.complaint.clear();
}

void erase(Form& form) {
  if (!form.text.empty()) form.text.pop_back();
  form.untouched = false;
  form.complaint.clear();
}

std::string expected(FormKind kind) {
  switch (kind) {
    case FormKind::kInject: return "a duration: 250 ms, 1.2 s";
    case FormKind::kNoise: return "exp:MEAN, periodic:DURATION@FREQUENCY or trace:FILE";
    case FormKind::kGoto: return "3.2s, rank 12, step 400";
    case FormKind::kFilter: return "0-9,20; empty shows all";
    default: return "";
  }
}

Nanoseconds proposed_delay(const Model& model) {
  if (model.session.lesson && model.session.lesson->delay > Nanoseconds::zero()) return model.session.lesson->delay;
  const Nanoseconds step = model.findings.steps.mean;
  return step > Nanoseconds::zero() ? std::min<Nanoseconds>(10 * step, std::chrono::seconds(60)) : kUsualDelay;
}

/// Of the delay that has been typed so far.
std::string predicted(const Form& form, Rank ranks) {
  const auto delay = words::parse_hold(form.text);
  return delay ? prediction(form.outlook, form.rank, ranks, *delay) : expected(form.kind);
}

std::string and_its_ranks(Rank ranks) {
  return ranks == 0 ? "" : fmt::format(" and its {} rank{}", ranks, ranks == 1 ? "" : "s");
}

}  // namespace

Form inject_form(Rank rank, const Model& model) {
  return {.kind = FormKind::kInject,
          .rank = rank,
          .text = words::format_duration(proposed_delay(model)),
          .outlook = analysis::program::outlook(model.timeline, model.findings.domains, model.findings.ground)};
}

void take_noise(State& state, wire::Result<wire::NoiseOrder> noise) {
  if (!noise) return complain(state, noise.error());
  noise->ends_with_giver = true;
  ask_to_confirm(state, {.ranks = {}, .order = std::move(*noise)});
}

Form filter_form(const State& state) { return {.kind = FormKind::kFilter, .text = words::to_words(state.filter)}; }

void key_in_form(Turn& turn) {
  Form& form = *turn.state.form;
  switch (turn.key.code) {
    case KeyCode::kEscape: turn.state.form.reset(); return;
    case KeyCode::kEnter: return submit(turn);
    case KeyCode::kBackspace:
    case KeyCode::kDelete: return erase(form);
    case KeyCode::kCharacter:
      if (form.kind == FormKind::kQuit) return answer_whether_to_quit(turn);
      return form.kind == FormKind::kConfirm ? answer(turn) : type(form, turn.key);
    default: return;
  }
}

FormWords words_of(const Form& form, const Model& model) {
  switch (form.kind) {
    case FormKind::kInject:
      return {fmt::format("inject into rank {}: ", form.rank),
              form.complaint.empty() ? predicted(form, model.timeline.ranks()) : form.complaint};
    case FormKind::kConfirm: return {in_words(form.command, model.timeline.ranks()) + " y/n", ""};
    case FormKind::kQuit:
      if (model.session.ends_with_us.empty()) return {"the program has ended; leave? y/n", ""};
      return {fmt::format("end {}{}? y/n", paint::shortened(model.session.ends_with_us, kLongestProgram),
                          and_its_ranks(model.timeline.ranks())),
              "d leaves it running"};
    case FormKind::kNoise:
      return {"noise in all ranks ", form.complaint.empty() ? expected(form.kind) : form.complaint};
    case FormKind::kGoto: return {"go to ", form.complaint.empty() ? expected(form.kind) : form.complaint};
    case FormKind::kAnswer:
      return {"your answer: ", !form.complaint.empty() ? form.complaint
                               : model.session.lesson  ? model.session.lesson->expected
                                                       : ""};
    case FormKind::kFilter: return {"show ranks ", form.complaint.empty() ? expected(form.kind) : form.complaint};
  }
  return {};
}

}  // namespace idlewave::view::keys
