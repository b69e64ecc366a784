#include "probe/arguments/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "probe/arguments/suggestion.h"

namespace idlewave::arguments {
namespace {

constexpr std::size_t kWidest = 110, kNarrowest = 40;  // columns, of a line that is read with ease
/// Behind a line's words this many spaces begin a column, which its further lines keep to.
constexpr std::string_view kGap = "  ";
constexpr const char* kNoWholeNumber = "is not a whole number from";

std::size_t columns_of_help() {
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? std::clamp<std::size_t>(size.ws_col, kNarrowest, kWidest) : kWidest;
}

std::size_t columns_of(std::string_view utf8) {
  return std::size_t(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Where the text of a line begins: "  --flag TIME    Text".
std::size_t text_column(std::string_view line) {
  const std::size_t words = line.find_first_not_of(' ');
  const std::size_t gap = words == std::string_view::npos ? words : line.find(kGap, words);
  const std::size_t text = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  return text == std::string_view::npos ? std::min(words, line.size()) : text;
}

std::string folded_line(const std::string& line, std::size_t width) {
  if (columns_of(line) <= width) return line;
  const std::size_t begin = text_column(line), indent = begin + kNarrowest / 2 <= width ? begin : 6;
  std::string lines = line.substr(0, begin);
  std::size_t column = columns_of(lines);
  bool is_first = true;
  for (const std::string& word : CLI::detail::split(line.substr(begin), ' ')) {
    const std::size_t more = columns_of(word) + (is_first ? 0 : 1);
    if (!is_first && column + more > width) {
      lines += "\n" + std::string(indent, ' ') + word;
      column = indent + columns_of(word);
    } else {
      lines += (is_first ? "" : " ") + word;
      column += more;
    }
    is_first = false;
  }
  return lines;
}

/// Lines that stand one below the other in a source are one paragraph.
std::string paragraphs(std::string text) {
  for (std::size_t at = 1; at + 1 < text.size(); ++at)
    if (text[at] == '\n' && text[at - 1] != '\n' && text[at + 1] != '\n' && text[at + 1] != ' ') text[at] = ' ';
  return text;
}

/// Leaves out what an option goes with, for its text says that, and keeps two spaces between the one and the other.
class TextsBeside : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string words = CLI::Formatter::make_option_opts(option);
    return words.substr(0, words.find(" Needs:"));
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    constexpr std::size_t kIndent = 2;
    const std::string names = make_option_name(option, is_positional) + make_option_opts(option);
    const bool touches = kIndent + names.size() + 1 == get_column_width();
    std::ostringstream line;
    CLI::detail::format_help(line, names, make_option_desc(option), get_column_width() + (touches ? 1 : 0));
    return line.str();
  }
};

class TextsBelow : public TextsBeside {
 public:
  std::string make_option(const CLI::Option* option, bool) const override {
    return fmt::format("  {}{}\n      {}\n", names_of(option), make_option_opts(option), option->get_description());
  }

 private:
  /// Without the mark that CLI11 sets at a flag which means no.
  static std::string names_of(const CLI::Option* option) {
    constexpr std::string_view kMark = "{false}";
    std::string names = option->get_name(false, true);
    if (const auto mark = names.find(kMark); mark != std::string::npos) names.erase(mark, kMark.size());
    return names;
  }
};

/// `is_not` stands between a value that can't be taken and what is accepted.
template <class Number>
void check_range(CLI::Option& option, Number least, Number most, const char* is_not) {
  const auto complaint = [=](const std::string& text) {
    Number value{};
    const bool is_within = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return is_within ? std::string() : fmt::format("{} {} {} to {}", text, is_not, least, most);
  };
  option.check(CLI::Validator(complaint, fmt::format("{}..{}", least, most)));
}

bool is_number(const std::string& text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) && !std::isnan(value);
}

bool is_given_too_often(const CLI::Option& option) {
  const auto most = std::size_t(option.get_items_expected_max());
  const bool refuses_more = option.get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
  return refuses_more && most > 0 && option.count() > most && !option.get_lnames().empty();
}

std::string given_too_often(const CLI::Option& option) {
  const std::size_t times = option.count();
  return fmt::format("--{} is given {}", option.get_lnames().front(),
                     times == 2 ? "twice" : fmt::format("{} times", times));
}

/// "study" of "idlewave study".
std::string_view short_name(std::string_view name) {
  constexpr std::string_view kProgram = "idlewave ";
  if (name.starts_with(kProgram)) name.remove_prefix(kProgram.size());
  return name.substr(0, name.find(' '));
}

/// Of the words in their order. The parser would take the word behind for the value.
template <class Word>
void refuse_empty_values(Word word, Word end) {
  for (; word != end; ++word) {
    const std::string_view text(*word);
    if (text == "--") return;
    if (text.size() > 3 && text.starts_with("--") && text.ends_with('='))
      refuse(std::string(text.substr(0, text.size() - 1)), "there is no value behind the '='");
  }
}

}  // namespace

std::string folded(const std::string& help) {
  const std::size_t width = columns_of_help();
  std::string lines;
  std::istringstream text(help);
  for (std::string line; std::getline(text, line);) lines += folded_line(line, width) + "\n";
  return lines;
}

void refuse(const std::string& flag, const std::string& message) { throw CLI::ValidationError(flag, message); }

Option& Option::type_name(const std::string& name) { return option_->type_name(name), *this; }
Option& Option::required() { return option_->required(), *this; }
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option& Option::within(int least, int most) { return check_range(*option_, least, most, kNoWholeNumber), *this; }
Option& Option::within(std::int64_t least, std::int64_t most) {
  return check_range(*option_, least, most, kNoWholeNumber), *this;
}
Option& Option::within(double least, double most) {
  check([](const std::string& text) { return is_number(text) ? std::string() : fmt::format("{} is no number", text); });
  return check_range(*option_, least, most, "is not from"), *this;
}
Option& Option::not_negative() {
  return check([](const std::string& text) {
    return text.starts_with('-') ? fmt::format("{} is below 0", text) : std::string();
  });
}
Option& Option::check(const std::function<std::string(const std::string&)>& complaint) {
  return option_->check(complaint), *this;
}
Option& Option::one_word_each() { return option_->allow_extra_args(false), *this; }
Option& Option::one_value_each() {
  return option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll), *this;
}
Option& Option::hide() { return option_->group(""), *this; }

CommandLine::CommandLine(const std::string& about, const std::string& name)
    : app_(std::make_shared<CLI::App>(paragraphs(about), name)) {
  app_->formatter(std::make_shared<TextsBeside>());
}
CommandLine::CommandLine(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}

Option CommandLine::add(const std::string& name, std::string& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
Option CommandLine::add(const std::string& name, std::filesystem::path& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
Option CommandLine::add(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  return Option(app_->add_option(name, values, help));
}
Option CommandLine::add(const std::string& name, int& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
Option CommandLine::add(const std::string& name, std::uint32_t& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
Option CommandLine::add(const std::string& name, std::int64_t& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
Option CommandLine::add(const std::string& name, double& value, const std::string& help) {
  return Option(app_->add_option(name, value, help));
}
Option CommandLine::add_text(const std::string& name, const std::function<void(const std::string&)>& take,
                             const std::string& help) {
  return Option(app_->add_option_function<std::string>(name, take, help));
}
Option CommandLine::add_texts(const std::string& name, const std::function<void(const std::vector<std::string>&)>& take,
                              const std::string& help) {
  return Option(app_->add_option_function<std::vector<std::string>>(name, take, help));
}
Option CommandLine::add_int(const std::string& name, const std::function<void(int)>& take, const std::string& help) {
  return Option(app_->add_option_function<int>(name, take, help));
}
Option CommandLine::add_int64(const std::string& name, const std::function<void(std::int64_t)>& take,
                              const std::string& help) {
  return Option(app_->add_option_function<std::int64_t>(name, take, help));
}
Option CommandLine::add_choice(const std::string& name, const std::map<std::string, int>& choices,
                               const std::function<void(int)>& take, const std::string& help) {
  std::vector<std::string> words;
  for (const auto& [word, number] : choices) words.push_back(word);
  const auto store = [=](const std::string& word) {
    const auto found = choices.find(word);
    if (found == choices.end()) refuse(name, fmt::format("\"{}\" is not one of {}", word, fmt::join(words, ", ")));
    take(found->second);
  };
  return add_text(name, store, help).type_name(fmt::format("{}", fmt::join(words, "|")));
}
Option CommandLine::add_flag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag(name, value, help));
}
void CommandLine::add_version(const std::string& text) { app_->set_version_flag("--version", text); }

void CommandLine::add_verb(const std::string& name, const std::string& about) { app_->add_subcommand(name, about); }
CommandLine CommandLine::verb(const std::string& name) const { return CommandLine(app_->get_subcommand_ptr(name)); }
void CommandLine::require_one_verb() { app_->require_subcommand(1); }
void CommandLine::then(const std::function<void()>& call) { app_->callback(call); }

void CommandLine::footer(const std::string& text) { app_->footer(paragraphs(text)); }
void CommandLine::put_texts_below() { app_->formatter(std::make_shared<TextsBelow>()); }
void CommandLine::without_help_flag() { app_->set_help_flag(); }
void CommandLine::keep_extras() { app_->allow_extras(); }

template <class Parse>
std::optional<Ending> CommandLine::ending_of(const Parse& parse) const {
  try {
    parse();
    line_meant().refuse_empty_words();
  } catch (const CLI::CallForHelp&) {
    return Ending{false, help()};
  } catch (const CLI::CallForVersion& version) {
    return Ending{false, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    // A mistyped flag leaves others without what they need, which is no news.
    if (auto unknown = unknown_flag()) return unknown;
    return Ending{true, refusal_of(error.get_exit_code(), error.what())};
  }
  return std::nullopt;
}

CommandLine CommandLine::line_meant() const {
  const auto verbs = app_->get_subcommands();
  return verbs.empty() ? *this : verb(verbs.front()->get_name());
}

/// Of words that stand for one thing the first names it: a program may have empty arguments, and no empty name.
void CommandLine::refuse_empty_words() const {
  for (const CLI::Option* option : std::as_const(*app_).get_options())
    if (option->get_positional() && option->count() > 0 && option->results().front().empty())
      refuse(option->get_name(true), "is empty");
}

std::optional<Ending> CommandLine::unknown_flag() const {
  const CommandLine line = line_meant();
  const std::vector<std::string> words = line.extras(), known = line.long_flags();
  const auto is_flag = [](const std::string& word) { return word.starts_with('-') && word != "--"; };
  const auto found = std::ranges::find_if(words, is_flag);
  if (found == words.end()) return std::nullopt;
  const std::string flag = found->substr(0, found->find('='));
  return Ending{true, no_such_flag(short_name(line.name()), flag, known), did_you_mean(flag, known).empty()};
}

std::string CommandLine::refusal_of(int kind, const std::string& words) const {
  constexpr std::string_view kNeeds = " requires ";
  switch (CLI::ExitCodes(kind)) {
    case CLI::ExitCodes::ExtrasError: return one_too_many();
    case CLI::ExitCodes::ArgumentMismatch: return wrong_number_of_values(words);
    case CLI::ExitCodes::RequiresError: {
      const auto at = words.find(kNeeds);
      return fmt::format("{}: goes with {}", words.substr(0, at), words.substr(at + kNeeds.size()));
    }
    default: return words;
  }
}

std::string CommandLine::wrong_number_of_values(const std::string& words) const {
  for (const CLI::Option* option : std::as_const(*line_meant().app_).get_options())
    if (is_given_too_often(*option)) return given_too_often(*option);
  return words.ends_with(" missing") ? words.substr(0, words.find(':')) + ": there is no value behind it" : words;
}

std::string CommandLine::one_too_many() const {
  const CommandLine line = line_meant();
  const auto one = [&](std::string_view word, const char* where) {
    return fmt::format("'{}': is one word too many for {}{}", word, short_name(line.name()), where);
  };
  std::vector<std::string> words = line.extras();
  std::erase(words, "--");
  if (!words.empty()) return one(words.front(), "");
  // What should have been the words behind "--" took one before it, so that nobody took those behind.
  for (const CLI::Option* option : std::as_const(*line.app_).get_options())
    if (option->get_positional() && option->get_items_expected_max() > 1 && option->count() > 0)
      return one(option->results().front(), " before --");
  words = extras();
  return one(words.empty() ? "" : words.front(), "");
}

std::optional<Ending> CommandLine::parse(int argc, const char* const* argv) {
  return ending_of([&] {
    refuse_empty_values(argv, argv + argc);
    app_->parse(argc, argv);
  });
}
std::optional<Ending> CommandLine::parse(std::vector<std::string> words) {
  return ending_of([&] {
    refuse_empty_values(words.rbegin(), words.rend());
    app_->parse(std::move(words));
  });
}

std::string CommandLine::help() const { return folded(app_->help()); }
std::string CommandLine::name() const { return app_->get_name(); }
bool CommandLine::has(const std::string& flag) const { return app_->get_option_no_throw(flag) != nullptr; }
std::size_t CommandLine::count(const std::string& flag) const { return app_->count(flag); }

std::vector<std::string> CommandLine::long_flags() const {
  std::vector<std::string> flags;
  for (const CLI::Option* option : std::as_const(*app_).get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

std::vector<std::string> CommandLine::extras() const { return app_->remaining(); }

std::vector<CommandLine> CommandLine::verbs_given() const {
  std::vector<CommandLine> given;
  for (const CLI::App* verb : app_->get_subcommands()) given.push_back(this->verb(verb->get_name()));
  return given;
}

}  // namespace idlewave::arguments
