#pragma once
// What a process knows of the pages of a memory that is shared by name only: which of its copies hold, and what it has
// changed in them. Pure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace idlewave::heat {

inline constexpr std::size_t kPage = 512;  ///< Doubles: 4 KiB, as the pages of most processors.

/// Doubles [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class PageTable {
 public:
  /// At first all copies hold. Of the pages of `home` this process has no copy, but the page itself.
  PageTable(std::size_t doubles, const Span& home);

  std::size_t pages() const { return changed_.size(); }
  bool holds(std::size_t page) const { return holds_[page]; }
  bool is_at_home(std::size_t page) const { return page * kPage >= home_.begin && page * kPage < home_.end; }

  /// Its copy is what its home has.
  void fetched(std::size_t page) { holds_[page] = true; }

  /// This process is about to change it: keeps what stands in it, to tell later what was changed.
  void prepare_change(std::size_t page, const double* memory);

  /// Of a page that is not at home, each run of doubles that were changed.
  void for_each_change(std::size_t page, const double* memory, const std::function<void(const Span&)>& with) const;

  const std::vector<std::uint16_t>& changed() const { return changed_; }  ///< 1 or 0, of each page.

  /// After a barrier: forgets all changes. `writers`: how many processes have changed each page. A copy that somebody
  /// else has changed holds no longer.
  void take_notices(const std::vector<std::uint16_t>& writers);

 private:
  Span home_;
  std::vector<bool> holds_;
  std::vector<std::uint16_t> changed_;
  std::unordered_map<std::size_t, std::vector<double>> twins_;
};

}  // namespace idlewave::heat
