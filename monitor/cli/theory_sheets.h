#pragma once
// The formulas of the papers (monitor/theory), each with figures to put in and what comes out.

#include <initializer_list>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/theory/oscillators.h"
#include "probe/wire/result.h"
#include "workloads/support/json.h"

namespace idlewave::cli {

/// Which words stand for a figure.
struct Accepted {
  enum class Kind { kNumber, kWhole, kTime, kSize, kBandwidth, kWord, kDistances };
  Kind kind = Kind::kNumber;
  std::string unit{};  ///< Of kNumber and kWhole, which are typed without.
  double least = 0;    ///< Of the same.
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> words{};  ///< Of kWord.
};
/// "ranks, 2 to 40", "a time from 0 s", "eager or rendezvous".
std::string in_words(const Accepted& accepted);

/// What is put in, as people type it (probe/words); unless somebody does, what the paper has.
struct Given {
  std::string key, value, about;
  Accepted accepted;
  std::string value_from{};  ///< Of whom `value` is, where it is not everybody's.
};

/// What comes out: keys of durations end with _s, of bandwidths with _bytes_per_s, of angles
/// with _rad. Not finite: without bound, or not
/// defined.
struct Told {
  std::string key;
  double value = 0;
  std::string about;
};

struct Answer {
  Answer(std::initializer_list<Told> figures) : told(figures) {}

  std::vector<Told> told;
  std::vector<theory::PhaseMoment> course;  ///< Of a model that goes on in time.
};

/// A figure that was put in.
struct Taken {
  std::string key;
  support::Json value;  ///< A number in the units of Told, a word, or a list of distances.
  Accepted accepted;    ///< Beside the other figures: no more ranks are active than there are.
};

struct Worked {
  std::vector<Taken> given;
  Answer answer;
};

class GivenReader;

struct Sheet {
  std::string name;
  std::string second_name;  ///< Means the same; empty: there is none.
  std::string paper, about;
  std::vector<Given> given;
  Answer (*work_out)(GivenReader& given);
};

std::span<const Sheet> theory_sheets();
/// "speed, noise-bound, ..."
std::string sheet_names();
/// By either of its names; null: there is none of that name.
const Sheet* find_sheet(std::string_view name);

/// With these words for some keys. Error: a key that the sheet does not have, or a value that is not accepted.
wire::Result<Worked> work_out(const Sheet& sheet, const std::map<std::string, std::string>& words);

}  // namespace idlewave::cli
