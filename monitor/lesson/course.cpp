#include "monitor/lesson/course.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/noise.h"
#include "probe/words/quantity.h"

namespace idlewave::lesson {
namespace {

using support::LessonCheck;
using support::LessonOrder;
using support::LessonPage;
using support::LessonQuestion;
using support::Scenario;
using support::WrittenText;

constexpr std::array<std::pair<std::string_view, Sense>, 2> kSenses{
    {{"at least ", Sense::kAtLeast}, {"at most ", Sense::kAtMost}}};

wire::Error at(const std::string& place, std::string_view what) {
  return wire::Error{fmt::format("{}: {}", place, what)};
}

int sockets_of(const support::Machine& machine) {
  return machine.ranks_per_domain > 0 ? (machine.ranks + machine.ranks_per_domain - 1) / machine.ranks_per_domain : 0;
}

/// Replaces {ranks} and so on by the numbers of the run, and of what a page orders.
class Numbers {
 public:
  explicit Numbers(const Scenario& scenario) : ranks_(scenario.machine.ranks) {
    const support::Machine& machine = scenario.machine;
    add("ranks", std::to_string(machine.ranks));
    if (scenario.play) return;  // what sockets it has is its own matter
    add("sockets", std::to_string(sockets_of(machine)));
    add("ranks_per_socket", std::to_string(machine.ranks_per_domain));
    if (const int saturation = saturation_of(machine)) add("saturation", std::to_string(saturation));
  }
  /// As `scenario` is played: with fewer ranks another one is held.
  Numbers of_page(const LessonPage& page) const {
    Numbers more = *this;
    if (!page.order || !page.order->rank) return more;
    const Rank rank = ranks_ > 0 ? *page.order->rank % ranks_ : *page.order->rank;
    more.add("rank", std::to_string(rank));
    more.add("opposite", std::to_string(ranks_ > 0 ? (rank + ranks_ / 2) % ranks_ : rank));
    more.add("hold", page.order->hold->text);
    return more;
  }
  std::string in(std::string text) const {
    for (const auto& [name, number] : numbers_) {
      for (std::size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), number);
    }
    return text;
  }
  /// "{ranks}, {sockets}"
  std::string known() const {
    std::string names;
    for (const auto& [name, number] : numbers_) names += (names.empty() ? "" : ", ") + name;
    return names;
  }

 private:
  void add(std::string_view name, std::string number) {
    numbers_.emplace_back(fmt::format("{{{}}}", name), std::move(number));
  }
  Rank ranks_;
  std::vector<std::pair<std::string, std::string>> numbers_;
};

/// "{rnaks}": what is left of a text of which Numbers has replaced all that it knows; empty: nothing.
std::string_view unknown_number(std::string_view text) {
  for (std::size_t begin = 0; (begin = text.find('{', begin)) != std::string_view::npos; ++begin) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin + 1);
    if (end != std::string_view::npos && end > begin + 1 && text[end] == '}')
      return text.substr(begin, end + 1 - begin);
  }
  return {};
}

wire::Status check_texts(const Page& page, const std::string& place, const Numbers& numbers) {
  std::vector<std::string_view> texts{page.text, page.say.near, page.say.far, page.say.none};
  if (page.ask) {
    texts.insert(texts.end(), {page.ask->question, page.ask->hint});
    texts.insert(texts.end(), page.ask->choices.begin(), page.ask->choices.end());
  }
  for (const std::string_view text : texts) {
    if (const auto unknown = unknown_number(text); !unknown.empty())
      return at(place, fmt::format("{} stands for no number here; known: {}", unknown, numbers.known()));
  }
  return wire::ok();
}

wire::Result<double> quantity(const WrittenText& written, std::string_view unit, const Numbers& numbers) {
  const auto value = parse_quantity(numbers.in(written.text), unit);
  return value ? value : at(written.place, value.error().message);
}

wire::Result<double> tolerance_of(const WrittenText& written, std::string_view unit, const Numbers& numbers) {
  const auto value = quantity(written, unit, numbers);
  return value && *value < 0 ? at(written.place, "must not be below zero") : value;
}

wire::Result<Question> question_of(const LessonQuestion& written, const Numbers& numbers) {
  Question ask{.question = numbers.in(written.question), .hint = numbers.in(written.hint)};
  if (!written.choices.empty()) {
    for (const std::string& choice : written.choices) ask.choices.push_back(numbers.in(choice));
    ask.answer = numbers.in(written.answer.text);
    return ask;
  }
  ask.unit = written.unit->text;
  if (!is_unit(ask.unit)) return at(written.unit->place, fmt::format("\"{}\" is none of {}", ask.unit, units()));
  const auto answer = quantity(written.answer, ask.unit, numbers);
  if (!answer) return answer.error();
  const auto tolerance = tolerance_of(*written.tolerance, ask.unit, numbers);
  if (!tolerance) return tolerance.error();
  ask.answer = *answer;
  ask.tolerance = *tolerance;
  return ask;
}

wire::Result<wire::Command> order_of(const LessonOrder& written, Rank ranks) {
  if (written.noise) {
    const auto noise = words::parse_order_of_noise(written.noise->text);
    if (!noise) return at(written.noise->place, noise.error().message);
    return wire::Command{.id = 0, .ranks = {}, .order = *noise};
  }
  const auto hold = words::parse_hold(written.hold->text);
  if (!hold) return at(written.hold->place, hold.error().message);
  const Rank rank = ranks > 0 ? *written.rank % ranks : *written.rank;
  return wire::Command{.id = 0, .ranks = {rank}, .order = wire::DelayOrder{.duration = *hold}};
}

/// Wrong where the scenario does not have it, and is certain of its sockets; -1 is the last.
wire::Status check_socket(int socket, const std::string& place, const Scenario& scenario) {
  const int sockets =
      scenario.play ? support::sockets_of(*scenario.play, scenario.machine.ranks) : sockets_of(scenario.machine);
  if (sockets == 0 || (socket >= -sockets && socket < sockets)) return wire::ok();
  return at(place, fmt::format("there is no socket {}: this scenario has sockets 0 to {}", socket, sockets - 1));
}

wire::Result<FigurePath> path_of(const WrittenText& written, const Scenario& scenario) {
  const auto path = parse_figure_path(written.text);
  if (!path) return at(written.place, path.error().message);
  if (!path->of_domain()) return path;
  const wire::Status socket = check_socket(path->place, written.place, scenario);
  return socket ? path : wire::Result<FigurePath>(socket.error());
}

/// "at least 5 ranks": takes the words from the front.
Sense take_sense(std::string& text) {
  for (const auto& [words, sense] : kSenses) {
    if (!text.starts_with(words)) continue;
    text.erase(0, words.size());
    return sense;
  }
  return Sense::kAbout;
}

wire::Result<FigurePath> figure_of(const LessonCheck& written, const Scenario& scenario) {
  if (!written.path.text.starts_with(support::kOfProgram)) return path_of(written.path, scenario);
  const auto key = std::string_view(written.path.text).substr(support::kOfProgram.size());
  if (const wire::Status told = support::check_told(scenario.play->name, key); !told)
    return at(written.path.place, told.error().message);
  if (written.unit && !is_unit(written.unit->text))
    return at(written.unit->place, fmt::format("\"{}\" is none of {}", written.unit->text, units()));
  return figure_of_program(written.path.text, written.unit ? written.unit->text : "", written.label);
}

/// Of a word that the report has; a program may say any.
wire::Status check_word(const LessonCheck& written, const Figure& what) {
  if (written.tolerance)
    return at(written.tolerance->place, "goes with a number, and this finding is a word; leave it out");
  const std::string all = fmt::format(", {},", what.words);
  if (what.words.empty() || all.find(fmt::format(", {},", written.theory.text)) != std::string::npos) return wire::ok();
  return at(written.theory.place, fmt::format("\"{}\" is none of {}", written.theory.text, what.words));
}

wire::Result<Check> check_of(const LessonCheck& written, const Scenario& scenario, const Numbers& numbers) {
  auto figure = figure_of(written, scenario);
  if (!figure) return figure.error();
  Check check{.figure = std::move(*figure), .theory = numbers.in(written.theory.text)};
  const Figure& what = *check.figure.figure;
  if (written.beside && written.beside->text != "before") {
    auto beside = path_of(*written.beside, scenario);
    if (!beside) return wire::Error{beside.error().message + ", or before"};
    check.beside = std::move(*beside);
  }
  check.before = written.beside && !check.beside;
  if (what.unit.empty()) {
    const wire::Status word = check_word(written, what);
    return word ? wire::Result<Check>(std::move(check)) : word.error();
  }
  WrittenText bound = written.theory;
  check.sense = take_sense(bound.text);
  const auto theory = quantity(bound, what.unit, numbers);
  if (!theory) return theory.error();
  check.theory = *theory;
  if (!written.tolerance)
    return at(written.path.place, fmt::format("needs a tolerance in {}: add tolerance", what.unit));
  const auto tolerance = tolerance_of(*written.tolerance, what.unit, numbers);
  if (!tolerance) return tolerance.error();
  check.tolerance = *tolerance;
  return check;
}

/// Wrong where a rank is held that the file does not have.
wire::Status check_rank(const LessonPage& page, const Scenario& scenario) {
  const Rank ranks = scenario.machine.ranks;
  if (!page.order || !page.order->rank || ranks == 0 || *page.order->rank < ranks) return wire::ok();
  return at(page.order->place,
            fmt::format("there is no rank {}: this scenario has ranks 0 to {}", *page.order->rank, ranks - 1));
}

wire::Result<Page> page_of(const LessonPage& written, const Scenario& scenario, const Numbers& run, bool as_written) {
  const Numbers numbers = run.of_page(written);
  Page page{.text = numbers.in(written.text),
            .after = written.after,
            .needs_lockstep = written.needs_lockstep,
            .lockstep_sockets = written.premise_sockets,
            .watch = written.watch};
  if (const wire::Status rank = check_rank(written, scenario); as_written && !rank) return rank.error();
  for (const int socket : written.premise_sockets)
    if (const wire::Status found = check_socket(socket, written.premise_place, scenario); !found) return found.error();
  if (written.ask) {
    auto ask = question_of(*written.ask, numbers);
    if (!ask) return ask.error();
    page.ask = std::move(*ask);
  }
  if (written.order) {
    auto order = order_of(*written.order, scenario.machine.ranks);
    if (!order) return order.error();
    page.order = std::move(*order);
  }
  for (const LessonCheck& each : written.checks) {
    auto check = check_of(each, scenario, numbers);
    if (!check) return check.error();
    page.checks.push_back(std::move(*check));
  }
  if (written.say)
    page.say = {numbers.in(written.say->near), numbers.in(written.say->far), numbers.in(written.say->none)};
  if (const wire::Status texts = check_texts(page, written.place, numbers); !texts) return texts.error();
  const bool asks_number = page.ask && page.ask->choices.empty();
  if (asks_number && page.ask->unit != page.checks.front().figure.figure->unit)
    return at(written.ask->unit->place, fmt::format("must be the unit of what is checked first: \"{}\"",
                                                    page.checks.front().figure.figure->unit));
  return page;
}

/// Of a page by which so many ranks have been held.
wire::Status check_wave(const FigurePath& path, int held, const std::string& place) {
  if (!path.of_wave() || (path.place >= -held && path.place < held)) return wire::ok();
  if (held == 0) return at(place, "there is no wave, as no rank has been held by this page; add [lesson.page.do]");
  return at(place, fmt::format("there is no wave {}: by this page the lesson has held ranks for waves 0 to {}",
                               path.place, held - 1));
}

wire::Status check_waves(const Page& page, const LessonPage& written, int held) {
  for (std::size_t i = 0; i < page.checks.size(); ++i) {
    const Check& check = page.checks[i];
    const wire::Status figure = check_wave(check.figure, held, written.checks[i].path.place);
    if (!figure) return figure;
    if (!check.beside) continue;
    const wire::Status beside = check_wave(*check.beside, held, written.checks[i].beside->place);
    if (!beside) return beside;
  }
  return wire::ok();
}

}  // namespace

std::string in_words(const Value& value, std::optional<double> error, std::string_view unit) {
  const double* number = std::get_if<double>(&value);
  return number ? quantity_in_words(*number, error, unit) : std::get<std::string>(value);
}

std::string theory_in_words(const Check& check) {
  const auto sense = std::ranges::find(kSenses, check.sense, [](const auto& each) { return each.second; });
  return fmt::format("{}{}", sense == kSenses.end() ? "" : sense->first,
                     in_words(check.theory, {}, check.figure.figure->unit));
}

bool holds(const Check& check, const Value& measured) {
  const double* number = std::get_if<double>(&measured);
  const double* theory = std::get_if<double>(&check.theory);
  if (!number || !theory) return measured == check.theory;
  const double above = *number - *theory;
  return (check.sense == Sense::kAtLeast || above <= check.tolerance) &&
         (check.sense == Sense::kAtMost || -above <= check.tolerance);
}

int saturation_of(const support::Machine& machine) {
  if (machine.curve.empty())
    return machine.core_bandwidth > 0 ? int(std::ceil(machine.domain_bandwidth / machine.core_bandwidth)) : 0;
  const double enough = 0.95 * machine.domain_bandwidth;
  return int(std::ranges::find_if(machine.curve, [&](double b) { return b >= enough; }) - machine.curve.begin()) + 1;
}

wire::Result<Course> make_course(const Scenario& scenario, bool as_written) {
  const Numbers numbers(scenario);
  Course course{.title = scenario.lesson->title,
                .figure = scenario.lesson->figure,
                .source = scenario.lesson->source,
                .program = scenario.play ? scenario.play->name : "",
                .pages = {}};
  int held = 0;
  for (const LessonPage& written : scenario.lesson->pages) {
    auto page = page_of(written, scenario, numbers, as_written);
    if (!page) return page.error();
    held += written.order && written.order->rank ? 1 : 0;
    if (const wire::Status waves = check_waves(*page, written, held); !waves) return waves.error();
    course.pages.push_back(std::move(*page));
  }
  return course;
}

}  // namespace idlewave::lesson
