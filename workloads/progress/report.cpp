#include "workloads/progress/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::progress {
namespace {

using support::Json;

const char* word_of(Direction direction) { return direction == Direction::kReceive ? "receive" : "send"; }

double median(const Point& point, double Trial::*time) {
  std::vector<double> times;
  for (const Trial& trial : point) times.push_back(trial.*time);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

/// A line of the table: medians, and what either extreme would have been.
struct Row {
  double work;
  double total;
  double by_itself;
  double in_calls;
};

std::vector<Row> rows_of(const Measurement& measurement, const Line& line) {
  std::vector<Row> rows;
  for (const Point& point : measurement.points) {
    const double work = median(point, &Trial::work);
    rows.push_back({work, median(point, &Trial::total), Line{line.communication, 1}.total_at(work),
                    Line{line.communication, 0}.total_at(work)});
  }
  return rows;
}

Finding finding_of(const Measurement& measurement) {
  std::vector<Trial> all;
  for (const Point& point : measurement.points) all.insert(all.end(), point.begin(), point.end());
  return judge(all);
}

std::string duration(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

std::string heading(const Measurement& measurement, const Finding& finding) {
  return fmt::format("{} of {}: {} ({:.0f} % of {} hidden, {:.0f} to {:.0f} %)\n", word_of(measurement.direction),
                     words::format_bytes(static_cast<std::uint64_t>(measurement.message_size)),
                     in_words(finding.verdict), 100 * finding.line.hidden, duration(finding.line.communication),
                     100 * finding.least_hidden, 100 * finding.most_hidden);
}

Json to_json(const Measurement& measurement) {
  const Finding finding = finding_of(measurement);
  Json points = Json::array();
  for (const Row& row : rows_of(measurement, finding.line)) {
    points.push_back({{"work_s", row.work},
                      {"total_s", row.total},
                      {"by_itself_s", row.by_itself},
                      {"inside_calls_s", row.in_calls}});
  }
  return {{"direction", word_of(measurement.direction)},   {"message_size", measurement.message_size},
          {"verdict", word_of(finding.verdict)},           {"hidden", finding.line.hidden},
          {"hidden_least", finding.least_hidden},          {"hidden_most", finding.most_hidden},
          {"communication_s", finding.line.communication}, {"points", points}};
}

}  // namespace

std::string table(const Measurement& measurement) {
  const Finding finding = finding_of(measurement);
  std::string text = heading(measurement, finding);
  text += fmt::format("{:>12}{:>12}{:>12}{:>16}\n", "work", "total", "by itself", "inside calls");
  for (const Row& row : rows_of(measurement, finding.line)) {
    text += fmt::format("{:>12}{:>12}{:>12}{:>16}\n", duration(row.work), duration(row.total), duration(row.by_itself),
                        duration(row.in_calls));
  }
  return text;
}

std::string json(const std::vector<Measurement>& measurements, std::string_view mpi) {
  Json list = Json::array();
  for (const Measurement& measurement : measurements) list.push_back(to_json(measurement));
  return Json{{"mpi", mpi}, {"measurements", list}}.text();
}

}  // namespace idlewave::progress
