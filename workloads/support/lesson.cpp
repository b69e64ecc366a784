#include "workloads/support/lesson.h"

#include <array>

#include "probe/words/quantity.h"
#include "workloads/support/toml_document.h"

namespace idlewave::support {
namespace {

using wire::Nanoseconds;

/// What a figure of a program hangs on.
struct LessonPlace {
  bool played = false;
  bool ends_with_program = false;
};

constexpr std::size_t kMostChoices = 9;
constexpr Nanoseconds kUsuallyStable = std::chrono::seconds(5);

std::optional<WrittenText> written(Section& section, std::string_view key) {
  std::string text;
  section.text(key, text);
  if (!section.has(key)) return std::nullopt;
  return WrittenText{std::move(text), section.place(key)};
}

WrittenText required(Section& section, std::string_view key, std::string_view example) {
  section.require(key, example);
  return written(section, key).value_or(WrittenText{});
}

void check_choices(Section& section, const LessonQuestion& ask) {
  for (const std::string_view key : {"unit", "tolerance"}) {
    if (section.has(key)) section.complain(key, "goes with a number; leave it out beside choices");
  }
  if (ask.choices.size() < 2 || ask.choices.size() > kMostChoices)
    section.complain("choices", fmt::format("must be two to {}", kMostChoices));
  for (auto choice = ask.choices.begin(); choice != ask.choices.end(); ++choice) {
    if (std::find(ask.choices.begin(), choice, *choice) != choice)
      section.complain("choices", fmt::format("\"{}\" stands there twice", *choice));
  }
  if (std::ranges::find(ask.choices, ask.answer.text) == ask.choices.end())
    section.complain("answer",
                     fmt::format("\"{}\" is none of the choices: {}", ask.answer.text, fmt::join(ask.choices, ", ")));
}

LessonQuestion read_question(Section section) {
  LessonQuestion ask;
  section.require("question", "\"How many of ten ranks are active on socket 1?\"");
  section.text("question", ask.question);
  section.texts("choices", ask.choices);
  ask.unit = written(section, "unit");
  ask.tolerance = written(section, "tolerance");
  const bool is_choice = section.has("choices");
  ask.answer = required(section, "answer", is_choice ? "\"one of the choices\"" : "\"5 ranks\"");
  section.text("hint", ask.hint);
  section.refuse_other_keys();
  if (is_choice) {
    check_choices(section, ask);
  } else {
    section.require("unit", "\"ranks\", or choices = [\"...\", \"...\"]");
    section.require("tolerance", "\"1 ranks\"");
  }
  return ask;
}

LessonOrder read_order(Section section) {
  LessonOrder order{
      .rank = {}, .hold = written(section, "hold"), .noise = written(section, "noise"), .place = section.place()};
  wire::Rank rank = 0;
  section.whole<wire::Rank>("rank", rank, 0, wire::kMaxRanks - 1);
  if (section.has("rank")) order.rank = rank;
  section.refuse_other_keys();
  if (order.noise) {
    for (const std::string_view key : {"rank", "hold"})
      if (section.has(key)) section.complain(key, "and noise exclude each other; give rank and hold, or noise");
  } else {
    section.require("rank", "5, or noise = \"exp:0.5ms\"");
    section.require("hold", "\"2 s\"");
  }
  return order;
}

/// What is measured when a program has ended is measured over the whole of it.
void check_end_of_program(Section& section, bool played) {
  if (!played) section.complain("program", "needs a program that ends; add [play]");
  for (const std::string_view key : {"wave", "stable"})
    if (section.has(key)) section.complain(key, "and program exclude each other; give one of both");
}

LessonWatch read_watch(Section section, bool holds, bool played) {
  LessonWatch watch{.program_ended = false, .wave_ended = false, .stable = kUsuallyStable, .at_most = kUsuallyAtMost};
  static constexpr std::array<std::pair<std::string_view, bool>, 1> kEnded{{{"ended", true}}};
  section.choice<bool>("program", watch.program_ended, kEnded);
  section.choice<bool>("wave", watch.wave_ended, kEnded);
  section.quantity("stable", watch.stable, words::parse_duration);
  section.quantity("at_most", watch.at_most, words::parse_duration);
  section.refuse_other_keys();
  if (watch.wave_ended && !holds)
    section.complain("wave", "needs a rank that is held on this page; add [lesson.page.do]");
  if (section.has("program")) check_end_of_program(section, played);
  if (watch.stable <= Nanoseconds::zero()) section.complain("stable", "must be above zero");
  if (watch.at_most < watch.stable) section.complain("at_most", "must not be less than stable");
  return watch;
}

/// A figure of the report has a unit and a name already.
void check_naming(Section& section, const LessonCheck& check, const LessonPlace& place) {
  if (!check.path.text.starts_with(kOfProgram)) {
    for (const std::string_view key : {"unit", "label"})
      if (section.has(key)) section.complain(key, fmt::format("goes with a path that begins with {}", kOfProgram));
    return;
  }
  if (!place.played) section.complain("path", "needs a program that says it; add [play]");
  if (!place.ends_with_program)
    section.complain("path", "is known once the program has ended; give [lesson.page.until] program = \"ended\"");
  section.require("label", "\"time of a step\"");
}

LessonCheck read_check(Section section, const LessonPlace& place) {
  LessonCheck check;
  check.path = required(section, "path", "\"domains.1.active_mean\"");
  check.unit = written(section, "unit");
  section.text("label", check.label);
  check.theory = required(section, "theory", "\"5 ranks\"");
  check.tolerance = written(section, "tolerance");
  check.beside = written(section, "beside");
  section.refuse_other_keys();
  check_naming(section, check, place);
  return check;
}

LessonVerdict read_verdict(Section section) {
  LessonVerdict say;
  section.text("near", say.near);
  section.text("far", say.far);
  section.text("none", say.none);
  section.refuse_other_keys();
  return say;
}

/// A page that measures says what it found; one that asks has something to measure.
void require_parts(Section& section, const LessonPage& page) {
  if (page.checks.empty()) {
    for (const std::string_view key : {"ask", "until", "say"})
      if (section.has(key)) section.complain(key, "goes with a figure that is measured; add [[lesson.page.check]]");
    return;
  }
  section.require("until", "{ stable = \"5 s\", at_most = \"60 s\" }");
  section.require("say", "{ near = \"...\", far = \"...\", none = \"...\" }");
}

LessonPage read_page(Section section, bool played) {
  LessonPage page;
  page.place = section.place();
  section.require("text", "\"What to look for\"");
  section.text("text", page.text);
  static constexpr std::array<std::pair<std::string_view, PageAfter>, 3> kAfter{
      {{"near", PageAfter::kNear}, {"far", PageAfter::kFar}, {"none", PageAfter::kNone}}};
  section.choice<PageAfter>("after", page.after, kAfter);
  static constexpr std::array<std::pair<std::string_view, bool>, 1> kPremises{{{"lockstep", true}}};
  section.choice<bool>("premise", page.needs_lockstep, kPremises);
  section.wholes<int>("premise_sockets", page.premise_sockets, 0, wire::kMaxRanks - 1);
  page.premise_place = section.place("premise_sockets");
  if (section.has("premise_sockets")) section.require("premise", "\"lockstep\"");
  if (section.has("ask")) page.ask = read_question(section.table("ask"));
  if (section.has("do")) page.order = read_order(section.table("do"));
  if (section.has("until")) page.watch = read_watch(section.table("until"), page.order && page.order->hold, played);
  const LessonPlace place{played, page.watch && page.watch->program_ended};
  for (Section& check : section.tables("check")) page.checks.push_back(read_check(std::move(check), place));
  if (section.has("say")) page.say = read_verdict(section.table("say"));
  require_parts(section, page);
  section.refuse_other_keys();
  return page;
}

/// What the page before can end with: the only ways on.
std::string ends_of(const LessonPage& page) {
  if (page.checks.empty()) return "";
  return page.ask ? "near, far, none" : "near, none";
}

void require_ways(std::vector<Section>& sections, const std::vector<LessonPage>& pages) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i].after == PageAfter::kAny) continue;
    const std::string ends = i == 0 ? "" : ends_of(pages[i - 1]);
    if (ends.empty())
      sections[i].complain(
          "after", "leads nowhere: the page can't be reached, as the one before it measures nothing; leave it out");
    else if (pages[i].after == PageAfter::kFar && !pages[i - 1].ask)
      sections[i].complain(
          "after", fmt::format("can't be reached: the page before asks nothing, so it ends with one of: {}", ends));
  }
}

constexpr std::array<std::string_view, 4> kFixable{"ranks", "ranks_per_domain", "bandwidths", "saturated"};

void check_fixed(Section& section, const std::vector<std::string>& fixed) {
  for (const std::string& key : fixed) {
    if (std::ranges::find(kFixable, key) == kFixable.end())
      section.complain("fixed", fmt::format("\"{}\" is none of {}", key, fmt::join(kFixable, ", ")));
  }
}

}  // namespace

Lesson read_lesson(Section section, bool played) {
  Lesson lesson;
  section.require("title", "\"A title\"");
  section.require("summary", "\"One line\"");
  section.text("title", lesson.title);
  section.text("summary", lesson.summary);
  section.text("figure", lesson.figure);
  section.text("source", lesson.source);
  section.texts("fixed", lesson.fixed);
  check_fixed(section, lesson.fixed);
  section.whole("least_ranks", lesson.least_ranks, wire::Rank{1}, wire::kMaxRanks);
  std::vector<Section> pages = section.tables("page");
  for (const Section& page : pages) lesson.pages.push_back(read_page(page, played));
  require_ways(pages, lesson.pages);
  section.refuse_other_keys();
  return lesson;
}

}  // namespace idlewave::support
