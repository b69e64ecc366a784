#pragma once
// A file in a folder of its own, which is gone with it.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/workloads/sparse/seeded.h"

namespace idlewave::testing_sparse {

class WrittenFile {
 public:
  WrittenFile() {
    std::string name = testing::TempDir() + "iw-spmv-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  WrittenFile(const WrittenFile&) = delete;
  ~WrittenFile() { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "matrix.mtx"; }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }

 private:
  std::filesystem::path folder_;
};

/// A matrix in any order, with an entry at least; the number of its rows.
inline int write_random(std::mt19937& random, const WrittenFile& file, const std::string& field, bool symmetric) {
  const int rows = whole(random, 1, 25);
  std::set<std::pair<int, int>> places{{1, 1}};
  for (int i = whole(random, 0, 3 * rows); i > 0; --i) {
    const std::pair place{whole(random, 1, rows), whole(random, 1, rows)};
    if (!symmetric || place.first >= place.second) places.insert(place);
  }
  std::vector<std::pair<int, int>> shuffled(places.begin(), places.end());
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  std::string text = fmt::format("%%MatrixMarket matrix coordinate {} {}\n% of a test\n{} {} {}\n", field,
                                 symmetric ? "symmetric" : "general", rows, rows, shuffled.size());
  for (const auto& [row, column] : shuffled) {
    text += fmt::format("{} {}", row, column);
    if (field == "real") text += fmt::format(" {:.17g}", real(random, -1, 1));
    if (field == "integer") text += fmt::format(" {}", whole(random, -9, 9));
    text += "\n";
  }
  file.write(text);
  return rows;
}

}  // namespace idlewave::testing_sparse
