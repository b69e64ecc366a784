#include "monitor/cli/simulation/frames.h"

#include <utility>

#include "probe/wire/codec.h"

namespace idlewave::cli::simulation {

template <class Body>
void Frames::add(Body body, wire::Nanoseconds at) {
  const auto bytes = wire::encode({session_, sim::emitter::kNode, ++sequence_, std::move(body)});
  if (file_ && written_) written_ = file_->append(at, wire::Direction::kReceived, bytes);
  if (observer_) observer_->accept({at, wire::Direction::kReceived, bytes});
}

void Frames::send(wire::Roster roster) { add(std::move(roster), {}); }

void Frames::send(wire::Events events) {
  last_ = events.up_to;
  add(std::move(events), last_);
}

wire::Status Frames::end() {
  add(wire::End{}, last_);
  return written_ && file_ ? file_->close() : written_;
}

}  // namespace idlewave::cli::simulation
