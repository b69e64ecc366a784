#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace idlewave::timeline {

/// First in, first out, in one stretch of memory that doubles when it is full and is used round and round then: what comes
/// and what goes costs no allocation, and an element is found by one addition and one mask. An element may be read as long
/// as the ring is not changed.
template <class T>
class Ring {
 public:
  using value_type = T;

  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = const T&;
    using pointer = const T*;

    const_iterator() = default;
    const_iterator(const Ring& ring, std::size_t place) : ring_(&ring), place_(place) {}

    reference operator*() const { return (*ring_)[place_]; }
    pointer operator->() const { return &(*ring_)[place_]; }
    reference operator[](difference_type n) const { return *(*this + n); }
    const_iterator& operator++() { return ++place_, *this; }
    const_iterator operator++(int) { return {*ring_, place_++}; }
    const_iterator& operator--() { return --place_, *this; }
    const_iterator operator--(int) { return {*ring_, place_--}; }
    const_iterator& operator+=(difference_type n) { return place_ += std::size_t(n), *this; }
    const_iterator& operator-=(difference_type n) { return place_ -= std::size_t(n), *this; }
    friend const_iterator operator+(const_iterator i, difference_type n) { return i += n; }
    friend const_iterator operator+(difference_type n, const_iterator i) { return i += n; }
    friend const_iterator operator-(const_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return difference_type(a.place_ - b.place_);
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) { return a.place_ == b.place_; }
    friend auto operator<=>(const const_iterator& a, const const_iterator& b) { return a.place_ <=> b.place_; }

   private:
    const Ring* ring_ = nullptr;
    std::size_t place_ = 0;  ///< Counted from the oldest.
  };

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }

  /// Counted from the oldest.
  const T& operator[](std::size_t place) const { return elements_[(oldest_ + place) & (capacity_ - 1)]; }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size_ - 1]; }
  T& back() { return elements_[(oldest_ + size_ - 1) & (capacity_ - 1)]; }
  const_iterator begin() const { return {*this, 0}; }
  const_iterator end() const { return {*this, size_}; }

  void push_back(const T& element) {
    if (size_ == capacity_) move_into(std::max(kFirstCapacity, 2 * capacity_));
    ++size_;
    back() = element;
  }
  void pop_front() { oldest_ = (oldest_ + 1) & (capacity_ - 1), --size_; }
  void clear() { oldest_ = size_ = 0; }

  /// Gives back what room it has beyond the least that holds what is there.
  void shrink() {
    if (const std::size_t least = std::bit_ceil(std::max(kFirstCapacity, size_)); least < capacity_) move_into(least);
  }

 private:
  static constexpr std::size_t kFirstCapacity = 8;

  void move_into(std::size_t capacity) {
    auto elements = std::make_unique_for_overwrite<T[]>(capacity);
    std::copy(begin(), end(), elements.get());
    elements_ = std::move(elements), capacity_ = capacity, oldest_ = 0;
  }

  std::unique_ptr<T[]> elements_;
  std::size_t capacity_ = 0;  ///< A power of two, or 0.
  std::size_t oldest_ = 0, size_ = 0;
};

}  // namespace idlewave::timeline
