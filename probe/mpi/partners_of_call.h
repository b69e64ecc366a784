#pragma once

#include <algorithm>
#include <cstdint>

#include "probe/mpi/partner.h"
#include "probe/wire/call_partners.h"

namespace idlewave::mpi {

/// With whom the call that goes on has to do, partner by partner, until it is said in the words of wire::CallPartners. One thread.
class PartnersOfCall {
 public:
  PartnersOfCall() = default;
  explicit PartnersOfCall(wire::Rank own) : own_(own) {}

  void send_to(wire::Rank rank) {
    is_known_ = is_known_ && !is_sending_;
    is_sending_ = true;
    to_ = rank;
  }
  void wait_for(Partner partner) {
    switch (partner.side) {
      case Side::kFrom: return receive_from(partner.rank);
      case Side::kToWaiting:
      case Side::kToPerhaps:
        is_awaited_ = true;
        if (!is_sending_) to_ = partner.rank;
        return;
      case Side::kTo:
      case Side::kNobody: return;
      case Side::kAnySource:
      case Side::kGroup:
      case Side::kUnknown: is_known_ = false; return;
    }
  }
  void wait_for_all() { is_of_all_ = true; }

  /// The call is over.
  wire::CallPartners take() {
    const wire::CallPartners taken = is_known_ ? partners() : wire::CallPartners();
    *this = PartnersOfCall(own_);
    return taken;
  }

 private:
  using Kind = wire::CallPartners::Kind;

  void receive_from(wire::Rank rank) {
    for (std::uint32_t i = 0; i < std::min(sources_, 2u); ++i)
      if (from_[i] == rank) return;
    if (sources_ < 2) from_[sources_] = rank;
    ++sources_;
    const std::int64_t bit = std::int64_t{rank} - own_ + wire::CallPartners::kReach;
    if (bit >= 0 && bit <= 2 * wire::CallPartners::kReach)
      around_ |= std::uint64_t{1} << bit;
    else
      are_around_ = false;
  }

  /// Of a call that waits for both senders and receivers those who send, as long as that is all that can be said.
  wire::CallPartners partners() const {
    if (is_of_all_) return {.kind = Kind::kAll};
    if (sources_ > 2 && (is_sending_ || !are_around_)) return {};
    if (is_sending_ && sources_ == 2) return {};
    if (is_sending_ && sources_ == 1) return {Kind::kSentAndReceived, to_, from_[0]};
    if (is_sending_) return {.kind = Kind::kSent, .first = to_};
    if (sources_ > 2) return {.kind = Kind::kFromSeveral, .senders = around_};
    if (sources_ == 2) return {Kind::kFromTwo, from_[0], from_[1]};
    if (sources_ == 1) return {.kind = Kind::kFrom, .first = from_[0]};
    if (is_awaited_) return {.kind = Kind::kToWaiting, .first = to_};
    return {.kind = Kind::kNobody};
  }

  bool is_known_ = true, is_of_all_ = false, is_sending_ = false, is_awaited_ = false;
  bool are_around_ = true;     ///< All sources, of this rank.
  std::uint32_t sources_ = 0;  ///< From the third on some may be counted twice.
  std::uint64_t around_ = 0;   ///< As wire::CallPartners::senders.
  wire::Rank own_ = 0, to_ = 0, from_[2] = {};
};

}  // namespace idlewave::mpi
