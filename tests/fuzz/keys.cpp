// Keys and mouse reports, byte for byte, against the decoder and the state machine, drawn after each at changing sizes.

#include <optional>

#include "monitor/term/input_decoder.h"
#include "monitor/view/keys/update.h"
#include "monitor/view/screen/screen.h"
#include "tests/fuzz/road.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::fuzz {
namespace {

/// Made once: what is looked at does not change.
view::testing::SyntheticSession& session() {
  static view::testing::SyntheticSession made({.ranks = 24, .ranks_per_socket = 8, .length = std::chrono::seconds(2)});
  return made;
}

class Operator {
 public:
  explicit Operator(Bytes& in) : in_(in) {
    view::SessionInfo& info = session().session;
    info.no_command = in.flag() ? std::nullopt : std::optional(wire::NoCommand::kInjectionOff);
    info.replay.reset();
    if (in.flag()) info.replay = view::Replay{Nanoseconds(in.number()), Nanoseconds(in.number()), 1, in.flag()};
    info.can_detach = in.flag();
    info.ends_with_us = in.flag() ? "mpirun -n 4 a.out" : "";
  }

  void work() {
    for (int turns = 0; !in_.empty() && turns < 40; ++turns) {
      const std::uint32_t what = in_.below(8);
      if (what == 0) size_ = {int(in_.below(130)) + 1, int(in_.below(40)) + 1};
      if (what == 1) press(decoder_.settle());
      if (what == 2) press({view::Key{.code = view::KeyCode::kResize}});
      if (what > 2) press(decoder_.feed(as_text(in_.take(1 + in_.below(12)))));
    }
    press(decoder_.settle());
    require(!decoder_.undecided());
  }

 private:
  using Nanoseconds = wire::Nanoseconds;

  void press(const std::vector<view::Key>& keys) {
    for (const view::Key& key : keys) {
      view::keys::Update update = view::keys::update(std::move(state_), key, session().model(), size_, look_);
      state_ = std::move(update.state);
    }
    const view::paint::Canvas canvas = view::screen::draw(state_, session().model(), size_, look_);
    require(canvas.size().columns == size_.columns && canvas.size().rows == size_.rows);
  }

  Bytes& in_;
  term::InputDecoder decoder_;
  view::State state_;
  view::paint::Size size_{80, 24};
  view::Look look_{};
};

}  // namespace

void run_road(Bytes& in) { Operator(in).work(); }

}  // namespace idlewave::fuzz
