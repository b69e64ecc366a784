#pragma once
// Something for each rank of a program of which few may ever be heard.

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace idlewave::analysis {

/// A T for each rank. Those that nobody has asked to change are all one T(): ranks that a program is only said to have
/// take a quarter of a byte each.
template <class T>
class PerRank {
 public:
  PerRank() = default;
  explicit PerRank(std::size_t ranks) { resize(ranks); }
  PerRank(const PerRank& other) : size_(other.size_), pages_(other.pages_.size()) {
    for (std::size_t i = 0; i < pages_.size(); ++i)
      if (other.pages_[i]) pages_[i] = std::make_unique<Page>(*other.pages_[i]);
  }
  PerRank(PerRank&&) noexcept = default;
  PerRank& operator=(PerRank other) noexcept {
    size_ = other.size_;
    pages_.swap(other.pages_);
    return *this;
  }

  void resize(std::size_t ranks) {
    size_ = ranks;
    pages_.resize((ranks + kPage - 1) / kPage);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  const T& operator[](std::size_t rank) const {
    const auto& page = pages_[rank / kPage];
    return page ? (*page)[rank % kPage] : kUnchanged;
  }
  /// To be changed; it stays where it is.
  T& of(std::size_t rank) {
    auto& page = pages_[rank / kPage];
    if (!page) page = std::make_unique<Page>();
    return (*page)[rank % kPage];
  }
  /// Else it is T().
  bool may_have_changed(std::size_t rank) const { return pages_[rank / kPage] != nullptr; }

  /// Over all, in the order of ranks.
  class Iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const PerRank& all, std::size_t rank) : all_(&all), rank_(rank) {}
    const T& operator*() const { return (*all_)[rank_]; }
    Iterator& operator++() { return ++rank_, *this; }
    Iterator operator++(int) { return {*all_, rank_++}; }
    bool operator==(const Iterator& other) const { return rank_ == other.rank_; }

   private:
    const PerRank* all_ = nullptr;
    std::size_t rank_ = 0;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

 private:
  static constexpr std::size_t kPage = 32;
  using Page = std::array<T, kPage>;

  static inline const T kUnchanged{};
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace idlewave::analysis
