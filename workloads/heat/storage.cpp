#include "workloads/heat/storage.h"

#include <idlewave/probe.h>

#include <array>
#include <limits>
#include <vector>

#include "workloads/distributed/patience.h"
#include "workloads/heat/shared_pages.h"

namespace idlewave::heat {
namespace {

/// Own rows, and those that messages bring.
class Messages : public Storage {
 public:
  Messages(const Square& square, const ranks::Group& ranks, bool asleep)
      : square_(square), ranks_(ranks), rows_(rows_of(square, ranks)), asleep_(asleep) {
    const std::size_t room = std::size_t(rows_.end - rows_.first + 2) * square.width();
    for (auto& field : fields_) field.assign(room, std::numeric_limits<double>::quiet_NaN());
    for (int row = rows_.first; row < rows_.end; ++row) set_both(row);
    if (ranks.rank == 0) set_both(0);
    if (ranks.rank + 1 == ranks.size) set_both(square.points + 1);
    if (ranks.rank > 0) neighbours_.push_back({ranks.rank - 1, rows_.first, rows_.first - 1});
    if (ranks.rank + 1 < ranks.size) neighbours_.push_back({ranks.rank + 1, rows_.end - 1, rows_.end});
    for (const Neighbour& each : neighbours_) partners_.push_back(each.rank);
  }

  double* now(int row) override { return row_of(fields_[0], row); }
  double* next(int row) override { return row_of(fields_[1], row); }

  void begin_step() override {
    std::array<MPI_Request, 4> requests;
    int posted = 0;
    const int count = int(square_.width());
    for (const Neighbour& each : neighbours_)
      MPI_Irecv(now(each.received), count, MPI_DOUBLE, each.rank, 0, ranks_.ranks, &requests[std::size_t(posted++)]);
    for (const Neighbour& each : neighbours_) {
      MPI_Isend(now(each.sent), count, MPI_DOUBLE, each.rank, 0, ranks_.ranks, &requests[std::size_t(posted++)]);
      idlewave_message(each.rank, square_.width() * sizeof(double));
      ++traffic_.messages, traffic_.bytes += std::int64_t(square_.width() * sizeof(double));
    }
    idlewave_partners(0, partners_.data(), int(partners_.size()), partners_.data(), int(partners_.size()), 0);
    wait_for(requests.data(), posted);
  }

  void end_step() override { std::swap(fields_[0], fields_[1]); }
  void begin_look() override {}
  Traffic traffic() const override { return traffic_; }

 private:
  struct Neighbour {
    int rank = 0;
    int sent = 0;      ///< Row that it needs.
    int received = 0;  ///< Its row that is needed here.
  };

  double* row_of(std::vector<double>& field, int row) {
    return field.data() + std::size_t(row - rows_.first + 1) * square_.width();
  }
  void set_both(int row) {
    for (auto& field : fields_) set_row(square_, row, 0, row_of(field, row));
  }

  void wait_for(MPI_Request* requests, int count) {
    if (!asleep_) return void(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    int done = 0;
    for (const distributed::Patience patience;;) {
      MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
      if (done) return;
      patience.sleep();
    }
  }

  Square square_;
  ranks::Group ranks_;
  Rows rows_;
  bool asleep_;
  std::array<std::vector<double>, 2> fields_;
  std::vector<Neighbour> neighbours_;
  std::vector<int> partners_;
  Traffic traffic_;
};

/// Rows of memories that all processes share, one for each field, so that most pages are at home where they are changed.
class Pages : public Storage {
 public:
  Pages(const Square& square, const ranks::Group& ranks)
      : square_(square),
        rows_(rows_of(square, ranks)),
        fields_{SharedPages{square.size(), ranks}, SharedPages{square.size(), ranks}} {
    Rows with_walls = rows_;
    if (ranks.rank == 0) --with_walls.first;
    if (ranks.rank + 1 == ranks.size) ++with_walls.end;
    for (SharedPages* field : {now_, next_}) {
      field->will_write(span_of(with_walls));
      for (int row = with_walls.first; row < with_walls.end; ++row) set_row(square, row, 0, row_of(*field, row));
      field->barrier();
    }
    before_ = traffic_of_both();
  }

  double* now(int row) override { return row_of(*now_, row); }
  double* next(int row) override { return row_of(*next_, row); }

  void begin_step() override {
    now_->will_read(span_of({rows_.first - 1, rows_.end + 1}));
    next_->will_write(span_of(rows_));
  }
  void end_step() override {
    next_->barrier();
    std::swap(now_, next_);
  }
  void begin_look() override { now_->will_read(span_of(rows_)); }

  /// Without what brought the first temperatures home.
  Traffic traffic() const override {
    const Traffic all = traffic_of_both();
    return {all.messages - before_.messages, all.bytes - before_.bytes};
  }

 private:
  Span span_of(const Rows& rows) const {
    return {std::size_t(rows.first) * square_.width(), std::size_t(rows.end) * square_.width()};
  }
  double* row_of(SharedPages& field, int row) const { return field.data() + std::size_t(row) * square_.width(); }
  Traffic traffic_of_both() const {
    const Traffic a = fields_[0].traffic(), b = fields_[1].traffic();
    return {a.messages + b.messages, a.bytes + b.bytes};
  }

  Square square_;
  Rows rows_;
  std::array<SharedPages, 2> fields_;
  SharedPages* now_ = &fields_[0];
  SharedPages* next_ = &fields_[1];
  Traffic before_;
};

}  // namespace

Rows rows_of(const Square& square, const ranks::Group& ranks) {
  const auto bound = [&](int part) { return 1 + int(std::int64_t{square.points} * part / ranks.size); };
  return {bound(ranks.rank), bound(ranks.rank + 1)};
}

std::unique_ptr<Storage> make_storage(Memory memory, const Square& square, const ranks::Group& ranks, bool asleep) {
  if (memory == Memory::kPages) return std::make_unique<Pages>(square, ranks);
  return std::make_unique<Messages>(square, ranks, asleep);
}

}  // namespace idlewave::heat
