#pragma once

#include <compare>
#include <cstddef>
#include <iterator>

#include "monitor/timeline/node_clock.h"

namespace idlewave::timeline {

/// Records that are stored in lane time, read in session time: a range of random access whose elements are values, each
/// converted when it is looked at. Search it by the algorithms of std::ranges: the older ones take a range without
/// references for one that they have to walk through. Valid until the store is changed. (A view of the standard library
/// would do, but clang 14, which compiles the fuzzers, can't read those of GCC 12.)
template <class Store>
class InSession {
 public:
  using value_type = typename Store::value_type;

  class iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Store::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type;
    using pointer = void;

    iterator() = default;
    iterator(typename Store::const_iterator at, const NodeClock& clock) : at_(at), clock_(&clock) {}

    value_type operator*() const { return at_->in_session(*clock_); }
    value_type operator[](difference_type n) const { return *(*this + n); }
    iterator& operator++() { return ++at_, *this; }
    iterator operator++(int) { return {at_++, *clock_}; }
    iterator& operator--() { return --at_, *this; }
    iterator operator--(int) { return {at_--, *clock_}; }
    iterator& operator+=(difference_type n) { return at_ += n, *this; }
    iterator& operator-=(difference_type n) { return at_ -= n, *this; }
    friend iterator operator+(iterator i, difference_type n) { return i += n; }
    friend iterator operator+(difference_type n, iterator i) { return i += n; }
    friend iterator operator-(iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const iterator& a, const iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const iterator& a, const iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const iterator& a, const iterator& b) { return a.at_ - b.at_ <=> 0; }

   private:
    typename Store::const_iterator at_{};
    const NodeClock* clock_ = nullptr;
  };

  InSession(const Store& store, const NodeClock& clock) : store_(&store), clock_(&clock) {}

  iterator begin() const { return {store_->begin(), *clock_}; }
  iterator end() const { return {store_->end(), *clock_}; }
  std::size_t size() const { return store_->size(); }
  bool empty() const { return store_->empty(); }
  value_type operator[](std::size_t i) const { return (*store_)[i].in_session(*clock_); }
  value_type front() const { return (*this)[0]; }
  value_type back() const { return (*this)[size() - 1]; }

 private:
  const Store* store_;
  const NodeClock* clock_;
};

}  // namespace idlewave::timeline
