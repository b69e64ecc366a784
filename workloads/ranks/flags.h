#pragma once
// What the command lines of our MPI programs are made of.

#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "probe/arguments/command_line.h"
#include "probe/wire/result.h"
#include "probe/words/choice.h"
#include "probe/words/whole.h"

namespace idlewave::ranks {

/// Reads an argument with one of our own parsers.
template <class T>
arguments::Option add(arguments::CommandLine& app, const char* flag, T& out, wire::Result<T> (*parse)(std::string_view),
                      const std::string& help) {
  return app.add_text(
      flag,
      [&out, parse, flag](const std::string& text) {
        auto value = parse(text);
        if (!value) arguments::refuse(flag, value.error().message);
        out = std::move(*value);
      },
      help);
}

template <class T, T least, T most>
wire::Result<T> whole(std::string_view text) {
  return words::parse_whole(text, least, most);
}

/// One word out of some.
template <class E>
arguments::Option add_choice(arguments::CommandLine& app, const char* flag, E& out, words::AnyOf<E> choices,
                             const std::string& help) {
  const std::vector<words::Choice<E>> own(choices.begin(), choices.end());
  const auto pick = [&out, own, flag](const std::string& text) {
    const auto value = words::parse_choice<E>(text, own);
    if (!value) arguments::refuse(flag, value.error().message);
    out = *value;
  };
  return app.add_text(flag, pick, help);
}
template <class E>
arguments::Option add_choice(arguments::CommandLine& app, const char* flag, E& out,
                             std::type_identity_t<std::initializer_list<words::Choice<E>>> choices,
                             const std::string& help) {
  return add_choice<E>(app, flag, out, std::span(choices.begin(), choices.size()), help);
}

/// Some, with commas between them. The table lives as long as the program.
template <class E>
arguments::Option add_choices(arguments::CommandLine& app, const char* flag, std::vector<E>& out,
                              words::AnyOf<E> choices, const std::string& help) {
  const auto pick = [&out, choices, flag](const std::string& text) {
    auto values = words::parse_choices<E>(text, choices);
    if (!values) arguments::refuse(flag, values.error().message);
    out = std::move(*values);
  };
  return app.add_text(flag, pick, help);
}

/// A program that is built for each MPI has a name for each.
inline std::string name_called(const char* const* argv) { return std::filesystem::path(argv[0]).filename(); }

/// Why a line was refused, in one.
inline wire::Error refusal(const arguments::Ending& ending, std::string_view program) {
  return {fmt::format("{} ({} --help lists what is accepted)", ending.text.substr(0, ending.text.find('\n')), program)};
}

}  // namespace idlewave::ranks
