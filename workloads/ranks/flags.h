#pragma once
// What the command lines of our MPI programs are made of.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/arguments/command_line.h"
#include "probe/wire/result.h"
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
arguments::Option add_choice(arguments::CommandLine& app, const char* flag, E& out,
                             std::vector<std::pair<std::string, E>> choices, const std::string& help) {
  std::string words;
  for (const auto& choice : choices) words += (words.empty() ? "" : ", ") + choice.first;
  const auto pick = [&out, choices = std::move(choices), words, flag](const std::string& text) {
    const auto found = std::ranges::find(choices, text, [](const auto& choice) { return choice.first; });
    if (found == choices.end()) arguments::refuse(flag, fmt::format("\"{}\" is not one of {}", text, words));
    out = found->second;
  };
  return app.add_text(flag, pick, help);
}

/// Why a line was refused, in one.
inline wire::Error refusal(const arguments::Ending& ending, std::string_view program) {
  return {fmt::format("{} ({} --help lists what is accepted)", ending.text.substr(0, ending.text.find('\n')), program)};
}

}  // namespace idlewave::ranks
