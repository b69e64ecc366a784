#pragma once
// The words of `idlewave theory NAME KEY=VALUE ...`, read as a sheet asks for them.

#include <limits>
#include <map>
#include <string>
#include <vector>

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

/// A figure that was put in.
struct Taken {
  std::string key;
  support::Json value;  ///< A number in the units of Told, a word, or a list of distances.
  Accepted accepted;    ///< Beside the other figures: no more ranks are active than there are.
};

/// Reads what a sheet asks for, of the words that were typed by key. The first value that is not accepted is the error; 1
/// stands for it until then. Both must outlive it. One thread.
class GivenReader {
 public:
  GivenReader(const std::vector<Given>& asked, const std::map<std::string, std::string>& words)
      : asked_(asked), words_(words) {}

  /// `most`: where other figures leave less than the sheet says.
  double number(const char* key, double most = std::numeric_limits<double>::infinity());
  int whole(const char* key, int most = std::numeric_limits<int>::max()) { return int(number(key, most)); }
  int choice(const char* key);  ///< Which of its words.
  std::vector<int> distances(const char* key);

  /// For a reason that no reading of one value finds.
  void refuse(const char* key, const std::string& why);

  const std::string& error() const { return error_; }
  std::vector<Taken> take() { return std::move(taken_); }

 private:
  const Given& given(const char* key) const;
  const std::string& text(const char* key) const;
  std::string unless_given(const char* key) const;

  const std::vector<Given>& asked_;
  const std::map<std::string, std::string>& words_;
  std::vector<Taken> taken_;
  std::string error_;
};

}  // namespace idlewave::cli
