#pragma once
// A session to which no port leads, reached over the standard streams of a command that runs another one: ssh, `srun
// --overlap` and the like (--over).

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/link/carrier.h"
#include "monitor/process/program.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

struct NotReached {
  std::string why;
  int code = 1;  ///< 2 where it was called wrongly.
};

/// One thread. Ends with us, and is ended by its destructor. SIGPIPE is ignored from the first one on.
class Remote {
 public:
  /// Starts it and waits for its greeting: as long as it takes somebody to log in. A null pointer: `why` says why.
  static std::unique_ptr<Remote> reach(const std::string& over, const std::vector<std::string>& more, NotReached& why);
  ~Remote();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  const link::Greeting& greeting() const { return greeting_; }
  const std::string& name() const { return name_; }  ///< `over`, for messages.
  int in() const { return in_; }
  int out() const { return out_; }
  /// What it has said on its standard error since the last call, in lines.
  std::vector<std::string> take_lines();

 private:
  Remote(std::string name, process::Program program, int in, int out, int error)
      : name_(std::move(name)), program_(program), in_(in), out_(out), error_(error) {}
  bool greet(NotReached& why);
  std::optional<bool> listen(NotReached& why);
  NotReached early_end();
  void read_error();
  void print_lines();

  std::string name_;
  process::Program program_;
  int in_, out_, error_;
  std::string heard_;  ///< Until the greeting.
  link::Greeting greeting_;
  std::string said_;  ///< On standard error, and not taken.
};

}  // namespace idlewave::cli
