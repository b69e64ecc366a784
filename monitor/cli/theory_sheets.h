#pragma once
// The formulas of the papers (monitor/theory), each with figures to put in and what comes out.

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "monitor/theory/oscillators.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

/// What is put in, as people type it (probe/words); unless somebody does, what the paper has.
struct Given {
  std::string key, value, about;
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

struct Worked {
  std::vector<std::pair<std::string, double>> given;  ///< Numbers, in the units of Told.
  Answer answer;
};

class GivenReader;

struct Sheet {
  std::string name, paper, about;
  std::vector<Given> given;
  Answer (*work_out)(GivenReader& given);
};

std::span<const Sheet> theory_sheets();

/// With these words for some keys. Error: a key that the sheet does not have, or a value that is not accepted.
wire::Result<Worked> work_out(const Sheet& sheet, const std::map<std::string, std::string>& words);

}  // namespace idlewave::cli
