#pragma once
// The formulas of the papers (monitor/theory), each with figures to put in and what comes out.

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/cli/given_reader.h"
#include "monitor/theory/oscillators.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

/// What comes out: keys of durations end with _s, of bandwidths with _bytes_per_s, of angles with _rad. Not finite: without
/// bound, or not defined.
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

struct Worked {
  std::vector<Taken> given;
  Answer answer;
};

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
