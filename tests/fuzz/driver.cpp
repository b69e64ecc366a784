// Drives a road where libFuzzer is not: the kept inputs as they are, then random changes of them. Takes the few options
// of libFuzzer that scripts/fuzz uses, and keeps the input that ended it.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace {

using Input = std::vector<std::uint8_t>;

struct Options {
  std::uint64_t runs = 10'000;
  std::uint64_t seconds = 0;  ///< 0: as long as the runs take.
  std::uint64_t seed = 1;
  unsigned timeout = 60;  ///< Seconds for one input.
  std::size_t longest = 4096;
  std::string artifact_prefix;
  std::vector<std::string> paths;
};

const Input* g_input = nullptr;
char g_artifact[512];

/// Only what may be called anywhere.
void keep_input() {
  if (g_input == nullptr) return;
  const int file = open(g_artifact, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || write(file, g_input->data(), g_input->size()) < 0) return;
  close(file);
  g_input = nullptr;
  for (const char* part : {"input kept in ", static_cast<const char*>(g_artifact), "\n"})
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
}

void on_signal(int number) {
  keep_input();
  signal(number, SIG_DFL);
  raise(number);
}

void run(const Input& input, unsigned timeout) {
  g_input = &input;
  alarm(timeout);
  const Input exact(input.begin(), input.end());  // its end is the end of the memory, for a sanitizer
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  g_input = nullptr;
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, std::uint64_t seed, std::size_t longest)
      : corpus_(corpus), random_(seed), longest_(longest) {}

  Input next() {
    Input input = corpus_[below(corpus_.size())];
    for (auto changes = 1 + below(8); changes > 0; --changes) change(input);
    if (input.size() > longest_) input.resize(longest_);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % std::max<std::size_t>(limit, 1); }

  void change(Input& input) {
    if (input.empty()) return input.push_back(std::uint8_t(random_()));
    const auto at = input.begin() + std::ptrdiff_t(below(input.size()));
    const auto length = std::ptrdiff_t(1 + below(std::size_t(input.end() - at)) % (std::size_t{1} << below(9)));
    switch (below(8)) {
      case 0: *at ^= std::uint8_t(1u << below(8)); break;
      case 1: *at = std::uint8_t(random_()); break;
      case 2: *at = below(2) ? 0xff : 0x7f; break;
      case 3: input.erase(at, std::min(at + length, input.end())); break;
      case 4: input.insert(at, std::uint8_t(random_())); break;
      case 5: {
        const Input copy(at, std::min(at + length, input.end()));
        input.insert(input.begin() + std::ptrdiff_t(below(input.size())), copy.begin(), copy.end());
        break;
      }
      case 6: {
        const Input& other = corpus_[below(corpus_.size())];
        if (other.empty()) break;
        const auto from = below(other.size()), count = 1 + below(other.size() - from);
        input.insert(at, other.begin() + std::ptrdiff_t(from), other.begin() + std::ptrdiff_t(from + count));
        break;
      }
      default: input.resize(1 + below(input.size())); break;
    }
  }

  const std::vector<Input>& corpus_;
  std::mt19937_64 random_;
  std::size_t longest_;
};

bool take_number(const char* argument, const char* name, std::uint64_t& out) {
  const std::size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  out = std::strtoull(argument + length, nullptr, 10);
  return true;
}

Options parse(int argc, char** argv) {
  Options options;
  std::uint64_t timeout = options.timeout, longest = options.longest;
  for (int i = 1; i < argc; ++i) {
    const bool known = take_number(argv[i], "-runs=", options.runs) ||
                       take_number(argv[i], "-max_total_time=", options.seconds) ||
                       take_number(argv[i], "-seed=", options.seed) || take_number(argv[i], "-timeout=", timeout) ||
                       take_number(argv[i], "-max_len=", longest);
    if (std::strncmp(argv[i], "-artifact_prefix=", 17) == 0)
      options.artifact_prefix = argv[i] + 17;
    else if (!known && argv[i][0] != '-')
      options.paths.push_back(argv[i]);
  }
  options.timeout = unsigned(timeout);
  options.longest = longest;
  return options;
}

Input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Input> read_corpus(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path))
      files.push_back(path);
    else
      for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same run on every machine
  std::vector<Input> corpus;
  for (const auto& file : files) corpus.push_back(read(file));
  return corpus;
}

void watch_for_the_end(const Options& options, const char* program) {
  const std::string road = std::filesystem::path(program).filename();
  std::snprintf(g_artifact, sizeof g_artifact, "%scrash-%s-%llu", options.artifact_prefix.c_str(), road.c_str(),
                static_cast<unsigned long long>(options.seed));
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) signal(number, on_signal);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  watch_for_the_end(options, argv[0]);
  std::vector<Input> corpus = read_corpus(options.paths);
  if (corpus.empty()) corpus.emplace_back();
  std::uint64_t done = 0;
  for (const Input& input : corpus) run(input, options.timeout), ++done;
  const bool files_only = options.paths.size() == 1 && !std::filesystem::is_directory(options.paths[0]);
  const auto until = std::chrono::system_clock::now() + std::chrono::seconds(options.seconds);
  Mutator mutator(corpus, options.seed, options.longest);
  for (; !files_only && done < options.runs; ++done) {
    if (options.seconds > 0 && std::chrono::system_clock::now() >= until) break;
    run(mutator.next(), options.timeout);
  }
  std::printf("%llu inputs, seed %llu\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(options.seed));
}
