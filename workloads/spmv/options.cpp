#include "workloads/spmv/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "probe/words/quantity.h"
#include "probe/words/whole.h"
#include "workloads/ranks/flags.h"

namespace idlewave::spmv {
namespace {

using arguments::CommandLine;
using ranks::add;
using ranks::add_choice;
using ranks::whole;
using wire::Error;
using wire::Result;
using wire::Status;

constexpr const char* kAbout =
    "iw-spmv: products of a sparse matrix and a vector, distributed over ranks, with and without overlap of "
    "communication and computation.\nIt shows what each part of a product takes on each rank, and what memory "
    "bandwidth would allow. Start it with mpirun.\nPaper: SFHW11 = Schubert, Fehske, Hager, Wellein: Hybrid-parallel "
    "sparse matrix-vector multiplication with explicit communication overlap on\ncurrent multicore-based systems, "
    "2011, sections 3 and 4, Figs. 5 to 9. R07 = Rabenseifner: Hybrid parallel programming (lecture, 2007), slides on "
    "overlapping computation and communication, and on the performance ratio.";

constexpr words::Choices<Mode, 5> kModes{{{"vector", Mode::kVector},
                                          {"overlap", Mode::kOverlap},
                                          {"task", Mode::kTask},
                                          {"reserved", Mode::kReserved},
                                          {"multiple", Mode::kMultiple}}};
/// But kFile, behind which stands a path.
constexpr words::Choices<Kind, 4> kKinds{
    {{"HMeP", Kind::kHmep}, {"HMEp", Kind::kHmEp}, {"poisson", Kind::kPoisson}, {"banded", Kind::kBanded}}};
constexpr std::string_view kFile = "file:";
constexpr std::size_t kMostSeries = 64;  // as many patterns of partners as a probe keeps

Result<Matrix> parse_matrix(std::string_view text) {
  Matrix matrix;
  for (const auto& [name, kind] : kKinds) {
    if (name != text) continue;
    matrix.kind = kind;
    if (kind == Kind::kHmEp) matrix.model.numbering = sparse::Numbering::kPhonons;
    return matrix;
  }
  if (!text.starts_with(kFile) || text == kFile)
    return Error{fmt::format("\"{}\" is not one of HMeP, HMEp, poisson, banded, file:PATH", text)};
  matrix.kind = Kind::kFile;
  matrix.file = text.substr(kFile.size());
  return matrix;
}

/// A path may have commas, so that a file comes last.
Result<std::vector<Matrix>> parse_matrices(std::string_view text) {
  std::vector<Matrix> matrices;
  for (bool more = true; more;) {
    const std::size_t end = text.starts_with(kFile) ? text.npos : text.find(',');
    auto matrix = parse_matrix(text.substr(0, end));
    if (!matrix) return matrix.error();
    matrices.push_back(std::move(*matrix));
    more = end != text.npos;
    if (more) text.remove_prefix(end + 1);
  }
  return matrices;
}

Result<std::vector<int>> parse_processes(std::string_view text) {
  auto processes = words::parse_wholes(text, 1, 100'000'000);
  if (processes && processes->size() > kMostSeries) return Error{fmt::format("more than {} numbers", kMostSeries)};
  return processes;
}

void add_matrix(CommandLine& app, Matrix& sizes, Options& o) {
  add(app, "--matrix", o.matrices, parse_matrices,
      "HMeP: Holstein-Hubbard model, electrons numbered contiguously. HMEp: the same, phonons numbered contiguously. "
      "poisson: finite elements on an irregular mesh, about 7 entries a row, as sAMG. banded: about 123 entries a row, "
      "as UHBR (SFHW11 sec. 1.3.1, Fig. 1). file:PATH, the last one: in the format MatrixMarket, coordinate. [HMeP]")
      .type_name("NAME,...");
  add(app, "--sites", sizes.model.sites, whole<int, 1, sparse::kMostSites>,
      "HMeP and HMEp: of the ring (SFHW11 sec. 1.3.1). [6]")
      .type_name("N");
  add(app, "--electrons", sizes.model.electrons, whole<int, 0, 2 * sparse::kMostSites>,
      "HMeP and HMEp: half of them with either spin. [6]")
      .type_name("N");
  add(app, "--phonons", sizes.model.phonons, whole<int, 0, sparse::kMostPhonons>,
      "HMeP and HMEp: at most, on all sites together. The paper has 15, which make 6.2 million rows; 5 make 100,800. "
      "[5]")
      .type_name("N");
  add(app, "--rows", sizes.rows, whole<sparse::Index, 1, 1'000'000'000'000>,
      "poisson and banded: of the matrix; poisson rounds them down to whole lines of its mesh. The paper has 22 and "
      "4.5 million. [100000]")
      .type_name("N");
}

void add_program(CommandLine& app, Options& o) {
  add_choice<Distribution>(app, "--distribute", o.distribution,
                           {{"nonzeros", Distribution::kNonzeros}, {"rows", Distribution::kRows}},
                           "What each process has equally much of (SFHW11 sec. 3.2). [nonzeros]")
      .type_name("NAME");
  ranks::add_choices<Mode>(
      app, "--modes", o.modes, kModes,
      "vector: communication, then the product. overlap: nonblocking communication beside the local part of the "
      "product. task: beside it a thread that only communicates (SFHW11 sec. 3.3 to 3.5, Fig. 5). reserved: one of "
      "--threads is that thread while the others multiply the local part, and multiplies with them afterwards. "
      "multiple: "
      "several of them are, each of which sends and receives its share of every message. Beside vector, which is "
      "masteronly, both are held against theory (R07, matrix-vector multiply). [vector,overlap,task]")
      .type_name("NAME,...");
  ranks::add_reserved(app, o.reserved);
  add(app, "--threads", o.threads, whole<int, 1, 1024>,
      "OpenMP threads of a process that compute; mode task has one more. [1]")
      .type_name("N");
  add(app, "--products", o.products, whole<std::int64_t, 2, 1'000'000'000>,
      "Products that are measured in each mode; a warm-up of two comes before. [100]")
      .type_name("N");
  add(app, "--processes", o.processes, parse_processes,
      "Measure with so many processes, one number after the other, the first ones of the job: cost over processes "
      "(SFHW11 Fig. 6). [all]")
      .type_name("N,...");
}

void add_machine(CommandLine& app, Options& o) {
  add_choice<Kernel>(
      app, "--kernel", o.kernel, ranks::kKernels,
      "virtual: a process computes and then waits for as long as its traffic takes on a virtual socket, by the code "
      "balance of SFHW11 eqs. 1 and 2, so that any number of ranks fits on any machine. [real]")
      .type_name("NAME");
  add(app, "--ranks-per-domain", o.ranks_per_domain, whole<int, 1, 1'000'000>,
      "kernel virtual: ranks on a virtual socket, which is a contention domain. [10]")
      .type_name("N");
  add(app, "--core-bandwidth", o.core_bandwidth, words::parse_bandwidth,
      "kernel virtual: memory bandwidth of a thread that is alone. [100 MB/s]")
      .type_name("RATE");
  add(app, "--domain-bandwidth", o.domain_bandwidth, words::parse_bandwidth,
      "kernel virtual: saturated bandwidth of a socket. [500 MB/s]")
      .type_name("RATE");
  add(app, "--message-bandwidth", o.message_bandwidth, words::parse_bandwidth,
      "kernel virtual: before MPI carries a process's messages, whoever calls it waits for as long as this makes of "
      "them, or of its share. [what MPI takes]")
      .type_name("RATE");
  add_choice<Waiting>(app, "--waiting", o.waiting, ranks::kWaitings,
                      "polling: inside MPI, as any MPI program. asleep: MPI_Testall now and then, and off the core "
                      "between. auto: asleep with kernel virtual and with more threads than cores. [auto]")
      .type_name("NAME");
  app.add_flag("--triad", o.triad,
               "Measure before what bandwidth the STREAM triad has on all threads together, for kappa of SFHW11 eq. 1; "
               "wants four times the last-level cache as memory.");
}

bool has_any(const Options& o, std::initializer_list<Kind> kinds) {
  return std::ranges::find_first_of(o.matrices, kinds, {}, &Matrix::kind) != o.matrices.end();
}

/// Flags that belong to another matrix or kernel than those that were asked for.
Status check_together(const CommandLine& app, const Options& o) {
  const bool hubbard = has_any(o, {Kind::kHmep, Kind::kHmEp});
  const bool generated = has_any(o, {Kind::kPoisson, Kind::kBanded});
  for (const char* flag : {"--sites", "--electrons", "--phonons"})
    if (app.count(flag) > 0 && !hubbard) return Error{fmt::format("{} belongs to --matrix HMeP and HMEp", flag)};
  if (app.count("--rows") > 0 && !generated) return Error{"--rows belongs to --matrix poisson and banded"};
  for (const char* flag : {"--ranks-per-domain", "--core-bandwidth", "--domain-bandwidth", "--message-bandwidth"})
    if (app.count(flag) > 0 && o.kernel == Kernel::kReal)
      return Error{fmt::format("{} belongs to --kernel virtual", flag)};
  if (o.triad && o.kernel == Kernel::kVirtual) return Error{"--triad belongs to --kernel real"};
  return wire::ok();
}

Status check_ranges(const Options& o, int ranks) {
  const sparse::HolsteinHubbard& model = o.matrices.front().model;
  if (model.electrons > 2 * model.sites)
    return Error{fmt::format("--electrons: {} sites hold at most {}", model.sites, 2 * model.sites)};
  if (o.matrices.size() * o.processes.size() > kMostSeries)
    return Error{fmt::format("--processes: more than {} numbers, each with every --matrix", kMostSeries)};
  if (const int most = *std::ranges::max_element(o.processes); most > ranks)
    return Error{fmt::format("--processes: {} are asked for, and the job has {}; start it with mpirun -n {}", most,
                             ranks, most)};
  return wire::ok();
}

/// What flags say of all matrices of a kind.
void take_sizes(Matrix& matrix, const Matrix& sizes) {
  const sparse::Numbering numbering = matrix.model.numbering;
  matrix.model = sizes.model;
  matrix.model.numbering = numbering;
  matrix.rows = sizes.rows;
}

}  // namespace

std::string_view name_of(Mode mode) { return words::word_of(mode, kModes); }

std::vector<Way> ways_of(const Options& options) {
  return ranks::ways_of(options.modes, options.reserved, Mode::kReserved, Mode::kMultiple);
}

std::string name_of(const Matrix& matrix) {
  return matrix.kind == Kind::kFile ? matrix.file : std::string{words::word_of(matrix.kind, kKinds)};
}

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks) {
  Options options;
  Matrix sizes;
  CommandLine app{kAbout, ranks::name_called(argv)};
  app.put_texts_below();
  app.add_version("iw-spmv " IDLEWAVE_VERSION);
  add_matrix(app, sizes, options);
  add_program(app, options);
  add_machine(app, options);
  app.add_flag("--json", options.json, "Print one JSON object, with every process, instead of tables.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, app.name());
    return std::variant<Options, Text>{Text{ending->text}};
  }
  if (options.matrices.empty()) options.matrices.emplace_back();
  for (Matrix& matrix : options.matrices) take_sizes(matrix, sizes);
  if (options.processes.empty()) options.processes = {ranks};
  auto checked = check_together(app, options);
  if (checked) checked = check_ranges(options, ranks);
  if (checked) checked = ranks::check_ways(app, ways_of(options), options.threads, Mode::kMultiple);
  if (!checked) return checked.error();
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::spmv
