#pragma once
// A value or one line of text that says what went wrong and what to do. For bad input and lost peers; broken promises
// are assertions.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace idlewave::wire {

struct Error {
  std::string message;  ///< One line: what is wrong, where, what would be accepted. No newline, no "error:" prefix.
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}
  Result(Error error) : held_(std::move(error)) {}
  explicit operator bool() const { return std::holds_alternative<T>(held_); }
  T& operator*() {
    assert(*this);
    return std::get<T>(held_);
  }
  const T& operator*() const {
    assert(*this);
    return std::get<T>(held_);
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Error& error() const {
    assert(!*this);
    return std::get<Error>(held_);
  }

 private:
  std::variant<T, Error> held_;
};

/// Success, or an Error.
using Status = Result<std::monostate>;
inline Status ok() { return std::monostate{}; }

}  // namespace idlewave::wire
