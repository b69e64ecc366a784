#include "monitor/view/panels/messages_panel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "monitor/analysis/plural.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/panels/listing.h"

namespace idlewave::view::panels {

namespace {

using analysis::session::Crossing;
using analysis::session::Matrix;
using analysis::session::PairUse;
using analysis::session::Traffic;

const Matrix* matrix_of(const Model& model) { return model.findings.mpi ? &model.findings.mpi->matrix : nullptr; }

int pair_lines(const Model& model) {
  const Matrix* matrix = matrix_of(model);
  return matrix ? static_cast<int>(matrix->pairs.size()) : 0;
}

std::string share_of(const Traffic& part, const Matrix& matrix) {
  return paint::to_percent(double(part.bytes) / double(matrix.all.bytes));
}

std::string what_is_not_counted(const Matrix& matrix) {
  std::string text;
  if (matrix.others.messages > 0)
    text += fmt::format("; {} of them to receivers that were not told apart",
                        paint::to_count(double(matrix.others.messages)));
  if (!matrix.not_counted.empty())
    text += fmt::format("; not counted: what {} moved", fmt::join(matrix.not_counted, ", "));
  if (matrix.threads_may_send) text += "; not counted: some that other threads may have sent";
  return text;
}

std::vector<std::string> messages_headline(const Model& model) {
  const Matrix* matrix = matrix_of(model);
  if (!matrix)
    return {
        "no rank has told of messages: they are counted by the library that run preloads, or told by idlewave_message",
        "no rank has told of messages"};
  const std::string rest = what_is_not_counted(*matrix);
  if (matrix->all.messages == 0)
    return {"no message from one rank to another was seen so far" + rest, "no messages between ranks so far"};
  const std::string sum = fmt::format("{} message{}, {} so far", paint::to_count(double(matrix->all.messages)),
                                      matrix->all.messages == 1 ? "" : "s", paint::to_bytes(matrix->all.bytes));
  if (matrix->all.bytes == 0) return {sum + rest, sum};
  const std::string sockets = share_of(matrix->across_domains, *matrix),
                    nodes = share_of(matrix->across_nodes, *matrix);
  const bool is_unplaced = matrix->unplaced.messages > 0;
  const std::string unplaced = share_of(matrix->unplaced, *matrix);
  const std::string places = is_unplaced ? fmt::format(", {} between places not known", unplaced) : "";
  const std::string where = fmt::format("{}; of the bytes {} to another socket of the node, {} to another node{}", sum,
                                        sockets, nodes, places);
  const std::string in_short = fmt::format("{}: {} to other sockets, {} to other nodes{}", sum, sockets, nodes,
                                           is_unplaced ? fmt::format(", {} not known", unplaced) : "");
  return {where + rest, where, in_short, sum};
}

std::vector<Column> pair_columns(const State&) {
  return {{"from rank", 10, false}, {"to rank", 10, false}, {"bytes", 12, false},
          {"messages", 10, false},  {"mean", 12, false},    {"   receiver on", 22, true}};
}

const char* place_of(Crossing crossing) {
  switch (crossing) {
    case Crossing::kNothing: return "   the same socket";
    case Crossing::kDomains: return "   another socket";
    case Crossing::kNodes: return "   another node";
    case Crossing::kUnknown: break;
  }
  return "   not known";
}

ListingLine pair_line(const State& state, const Model& model, std::size_t line) {
  const PairUse& pair = matrix_of(model)->pairs[line];
  const Traffic& traffic = pair.traffic;
  return {
      .cells = {fmt::format("{}", pair.from), fmt::format("{}", pair.to), paint::to_bytes(traffic.bytes),
                paint::to_count(double(traffic.messages)),
                traffic.messages > 0 ? paint::to_bytes(traffic.bytes / traffic.messages) : "–", place_of(pair.crosses)},
      .is_marked = pair.from == state.cursor_rank || pair.to == state.cursor_rank};
}

constexpr Listing kMessages{.key = U'7',
                            .name = "messages",
                            .headline = messages_headline,
                            .columns = pair_columns,
                            .lines = pair_lines,
                            .line = pair_line};

}  // namespace

layout::Panel messages_panel() { return listing_panel<kMessages>(); }

}  // namespace idlewave::view::panels
