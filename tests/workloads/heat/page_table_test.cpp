// Pages of a memory that is shared by name only, against one that is shared.

#include "workloads/heat/page_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/any_seed.h"

namespace idlewave::heat {
namespace {

/// Processes that fetch from each other's memory and put into it, as SharedPages does by MPI.
class Processes {
 public:
  Processes(std::size_t pages, std::size_t count) : pages_of_home_((pages + count - 1) / count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = std::min(pages, i * pages_of_home_), end = std::min(pages, begin + pages_of_home_);
      tables_.emplace_back(pages * kPage, Span{begin * kPage, end * kPage});
      memories_.emplace_back(pages * kPage);
    }
  }

  double read(std::size_t process, std::size_t at) {
    touch(process, at / kPage);
    return memories_[process][at];
  }
  void write(std::size_t process, std::size_t at, double value) {
    touch(process, at / kPage);
    tables_[process].prepare_change(at / kPage, memories_[process].data());
    memories_[process][at] = value;
  }
  void barrier() {
    std::vector<std::uint16_t> writers(tables_[0].pages());
    for (std::size_t process = 0; process < tables_.size(); ++process) {
      const auto& memory = memories_[process];
      for (std::size_t page = 0; page < writers.size(); ++page) {
        writers[page] = std::uint16_t(writers[page] + tables_[process].changed()[page]);
        tables_[process].for_each_change(page, memory.data(), [&](const Span& change) {
          std::copy(memory.begin() + std::ptrdiff_t(change.begin), memory.begin() + std::ptrdiff_t(change.end),
                    home_of(page).begin() + std::ptrdiff_t(change.begin));
        });
      }
    }
    for (PageTable& table : tables_) table.take_notices(writers);
  }
  std::size_t fetched() const { return fetched_; }

 private:
  std::vector<double>& home_of(std::size_t page) { return memories_[page / pages_of_home_]; }
  void touch(std::size_t process, std::size_t page) {
    if (tables_[process].holds(page)) return;
    const auto at = std::ptrdiff_t(page * kPage);
    std::copy_n(home_of(page).begin() + at, kPage, memories_[process].begin() + at);
    tables_[process].fetched(page);
    ++fetched_;
  }

  std::size_t pages_of_home_;
  std::vector<PageTable> tables_;
  std::vector<std::vector<double>> memories_;
  std::size_t fetched_ = 0;
};

TEST(PageTable, ShowsAfterABarrierWhatAnybodyHasWrittenBeforeIt) {
  std::mt19937 random(any_seed());
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>{0, end - 1}(random); };
  for (int round = 0; round < 30; ++round) {
    const std::size_t pages = 1 + below(7), count = 1 + below(5), doubles = pages * kPage;
    Processes processes(pages, count);
    std::vector<double> shared(doubles), next(doubles);
    for (int barrier = 0; barrier < 8; ++barrier) {
      std::vector<bool> is_written(doubles);
      for (int i = 0; i < 200; ++i) {
        const std::size_t at = below(doubles), writer = below(count), reader = below(count);
        if (!is_written[at]) processes.write(writer, at, next[at] = below(3) == 0 ? next[at] : double(below(1000)));
        is_written[at] = true;
        const std::size_t other = below(doubles);
        if (is_written[other]) continue;
        ASSERT_EQ(processes.read(reader, other), shared[other]);
      }
      processes.barrier();
      shared = next;
    }
  }
}

TEST(PageTable, FetchesNothingThatNobodyElseHasChanged) {
  Processes processes(4, 2);
  processes.write(0, 3 * kPage, 1);
  processes.barrier();
  EXPECT_EQ(processes.read(0, 3 * kPage), 1) << "its own change, of the other one's page";
  EXPECT_EQ(processes.read(1, 3 * kPage), 1) << "at home";
  EXPECT_EQ(processes.fetched(), 0u);
  processes.write(1, 3 * kPage + 1, 2);
  processes.barrier();
  EXPECT_EQ(processes.read(0, 3 * kPage + 1), 2);
  EXPECT_EQ(processes.read(0, 3 * kPage), 1);
  EXPECT_EQ(processes.fetched(), 1u) << "once after each barrier";
}

TEST(PageTable, TellsChangesFromWhatWasWrittenAsItWas) {
  std::vector<double> memory(kPage, std::numeric_limits<double>::quiet_NaN());
  PageTable table(kPage, {0, 0});
  table.prepare_change(0, memory.data());
  memory[3] = memory[4] = 1;
  memory[kPage - 1] = 2;
  std::vector<std::size_t> bounds;
  table.for_each_change(0, memory.data(), [&](const Span& change) {
    bounds.push_back(change.begin);
    bounds.push_back(change.end);
  });
  EXPECT_THAT(bounds, testing::ElementsAre(3, 5, kPage - 1, kPage));
}

}  // namespace
}  // namespace idlewave::heat
