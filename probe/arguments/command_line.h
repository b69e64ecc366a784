#pragma once
// The command lines of our programs, read by CLI11. A file that includes CLI11 itself takes ten seconds more to compile:
// that is command_line.cpp alone.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace idlewave::arguments {

/// Of a command line, which it must not outlive. Each call adds to what is said of it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  /// What stands for its value in the help.
  Option& type_name(const std::string& name);
  Option& required();
  Option& needs(const Option& other);
  Option& within(int least, int most);
  Option& within(std::int64_t least, std::int64_t most);
  Option& within(double least, double most);
  Option& not_negative();
  /// `complaint` returns what is wrong with a text; empty: nothing.
  Option& check(const std::function<std::string(const std::string&)>& complaint);
  /// Of several values: one word each time that it is given, not all that follow.
  Option& one_word_each();
  /// The same for a flag whose help shows one value.
  Option& one_value_each();
  Option& hide();

 private:
  CLI::Option* option_;
};

/// Why a line is not to be obeyed: it asks for help or for the version, or can't be taken.
struct Ending {
  bool refused;
  /// To be printed as it is; if refused: one line without its end.
  std::string text;
  bool is_strange = false;  ///< Refused for a flag that is like none that there is.
};

/// Thrown by what takes a value, and caught by parse(): `flag` with this value is refused.
[[noreturn]] void refuse(const std::string& flag, const std::string& message);

/// In lines that fit the terminal of standard output, as all help is; further ones begin where the text of the first does.
std::string folded(const std::string& text);

/// The arguments of a program or a verb. What they are stored in, or given to, must be there until the line is parsed.
/// Names are as CLI11 has them: "file", "--key", "-o,--output", "--pin,!--no-pin". Copies are the same command line.
class CommandLine {
 public:
  CommandLine(const std::string& about, const std::string& name);

  Option add(const std::string& name, std::string& value, const std::string& help);
  Option add(const std::string& name, std::filesystem::path& value, const std::string& help);
  Option add(const std::string& name, std::vector<std::string>& values, const std::string& help);
  Option add(const std::string& name, int& value, const std::string& help);
  Option add(const std::string& name, std::uint32_t& value, const std::string& help);
  Option add(const std::string& name, std::int64_t& value, const std::string& help);
  Option add(const std::string& name, double& value, const std::string& help);
  /// For values that have a parser of their own; `take` may refuse.
  Option add_text(const std::string& name, const std::function<void(const std::string&)>& take,
                  const std::string& help);
  Option add_texts(const std::string& name, const std::function<void(const std::vector<std::string>&)>& take,
                   const std::string& help);
  Option add_int(const std::string& name, const std::function<void(int)>& take, const std::string& help);
  Option add_int64(const std::string& name, const std::function<void(std::int64_t)>& take, const std::string& help);
  /// A word out of some, each with its number.
  Option add_choice(const std::string& name, const std::map<std::string, int>& choices,
                    const std::function<void(int)>& take, const std::string& help);
  Option add_flag(const std::string& name, bool& value, const std::string& help);
  void add_version(const std::string& text);

  void add_verb(const std::string& name, const std::string& about);
  CommandLine verb(const std::string& name) const;
  void require_one_verb();
  /// Runs once the whole line was read, and may refuse.
  void then(const std::function<void()>& call);

  void footer(const std::string& text);
  /// In the help: texts below their options, where most are long.
  void put_texts_below();
  void without_help_flag();
  /// Words that belong to nothing are kept, not refused.
  void keep_extras();

  /// Empty if the line is to be obeyed.
  std::optional<Ending> parse(int argc, const char* const* argv);
  /// The words behind the program's name, last word first.
  std::optional<Ending> parse(std::vector<std::string> words);

  std::string help() const;
  std::string name() const;
  bool has(const std::string& flag) const;
  /// How often the line gave the flag.
  std::size_t count(const std::string& flag) const;
  std::vector<std::string> long_flags() const;
  std::vector<std::string> extras() const;
  std::vector<CommandLine> verbs_given() const;

 private:
  explicit CommandLine(std::shared_ptr<CLI::App> app);
  template <class Parse>
  std::optional<Ending> ending_of(const Parse& parse) const;
  /// The verb that was given, if there are any.
  CommandLine line_meant() const;
  void refuse_empty_words() const;
  std::optional<Ending> unknown_flag() const;
  /// In our words what CLI11, by one of its exit codes, says in `words`.
  std::string refusal_of(int kind, const std::string& words) const;
  std::string wrong_number_of_values(const std::string& words) const;
  std::string one_too_many() const;

  std::shared_ptr<CLI::App> app_;
};

}  // namespace idlewave::arguments
