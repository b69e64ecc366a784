#include "workloads/spmv/options.h"

#include <gmock/gmock.h>

namespace idlewave::spmv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

wire::Result<std::variant<Options, Text>> parse(std::vector<const char*> words, int ranks = 4) {
  words.insert(words.begin(), "iw-spmv");
  return parse_options(static_cast<int>(words.size()), words.data(), ranks);
}

Options accepted(const std::vector<const char*>& words) {
  const auto parsed = parse(words);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? std::get<Options>(*parsed) : Options{};
}

std::string refusal(const std::vector<const char*>& words) {
  const auto parsed = parse(words);
  return parsed ? "" : parsed.error().message;
}

TEST(SpmvOptions, MeasureAllModesOnAllProcessesIfNothingIsSaid) {
  const Options options = accepted({});
  EXPECT_THAT(options.modes, ElementsAre(Mode::kVector, Mode::kOverlap, Mode::kTask));
  EXPECT_THAT(options.processes, ElementsAre(4));
  ASSERT_EQ(options.matrices.size(), 1u);
  EXPECT_EQ(name_of(options.matrices[0]), "HMeP");
  EXPECT_EQ(options.matrices[0].model.numbering, sparse::Numbering::kElectrons);
  EXPECT_EQ(options.matrices[0].model.phonons, 5);
}

TEST(SpmvOptions, TakeTheMatricesOfThePaperAndFiles) {
  const auto first = [](const std::vector<const char*>& words) { return accepted(words).matrices.at(0); };
  EXPECT_EQ(first({"--matrix", "HMEp"}).model.numbering, sparse::Numbering::kPhonons);
  EXPECT_EQ(first({"--matrix", "poisson", "--rows", "22000000"}).rows, 22'000'000);
  EXPECT_EQ(first({"--matrix", "file:a:b.mtx"}).kind, Kind::kFile);
  EXPECT_EQ(name_of(first({"--matrix", "file:a:b.mtx"})), "a:b.mtx");
}

TEST(SpmvOptions, TakeSeveralMatricesOfWhichAFileIsTheLast) {
  std::vector<std::string> names;
  const Options options = accepted({"--matrix", "HMEp,banded,HMeP,file:a,HMeP.mtx", "--phonons", "2", "--rows", "30"});
  for (const Matrix& matrix : options.matrices) names.push_back(name_of(matrix));
  EXPECT_THAT(names, ElementsAre("HMEp", "banded", "HMeP", "a,HMeP.mtx"));
  EXPECT_EQ(options.matrices[0].model.numbering, sparse::Numbering::kPhonons);
  EXPECT_EQ(options.matrices[2].model.numbering, sparse::Numbering::kElectrons);
  EXPECT_EQ(options.matrices[0].model.phonons, 2);
  EXPECT_EQ(options.matrices[2].model.phonons, 2);
  EXPECT_EQ(options.matrices[1].rows, 30);
}

TEST(SpmvOptions, ReserveSeveralNumbersOfThreadsOneAfterTheOther) {
  std::vector<std::pair<Mode, int>> found;
  for (const Way& way :
       ways_of(accepted({"--threads", "6", "--modes", "multiple,vector,reserved", "--reserved", "3,5"})))
    found.emplace_back(way.mode, way.reserved);
  EXPECT_THAT(found, ElementsAre(std::pair{Mode::kMultiple, 3}, std::pair{Mode::kMultiple, 5},
                                 std::pair{Mode::kVector, 0}, std::pair{Mode::kReserved, 1}));
}

TEST(SpmvOptions, RefuseWhatCannotBeAndSayWhatCould) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> refused{
      {{"--matrix", "hmep"}, "not one of HMeP, HMEp, poisson, banded, file:PATH"},
      {{"--matrix", "file:"}, "not one of HMeP"},
      {{"--matrix", "HMeP,"}, "not one of HMeP"},
      {{"--matrix", "HMeP,hmep"}, "\"hmep\" is not one of HMeP"},
      {{"--matrix", "HMeP,HMEp", "--rows", "7"}, "--rows belongs to --matrix poisson and banded"},
      {{"--modes", "vector,tasks"}, "\"tasks\" is not one of vector, overlap, task, reserved, multiple"},
      {{"--modes", "reserved"}, "reserved reserves 1 of --threads 1, and nobody is left to work; --threads 2 has one"},
      {{"--modes", "multiple", "--threads", "2"}, "multiple reserves 2 of --threads 2, and nobody is left to work"},
      {{"--modes", "multiple", "--threads", "4", "--reserved", "3,4"}, "reserves 4 of --threads 4"},
      {{"--modes", "multiple", "--reserved", "0"}, "from 1 to 1024"},
      {{"--modes", "reserved", "--threads", "4", "--reserved", "2"}, "--reserved belongs to --modes multiple"},
      {{"--modes", ""}, "is not one of vector, overlap, task"},
      {{"--processes", "1,5"}, "5 are asked for, and the job has 4"},
      {{"--processes", "0"}, "from 1 to"},
      {{"--threads", "0"}, "from 1 to 1024"},
      {{"--products", "1"}, "from 2 to"},
      {{"--sites", "15"}, "from 1 to 14"},
      {{"--sites", "2", "--electrons", "5"}, "2 sites hold at most 4"},
      {{"--rows", "7"}, "--rows belongs to --matrix poisson and banded"},
      {{"--matrix", "banded", "--phonons", "3"}, "--phonons belongs to --matrix HMeP and HMEp"},
      {{"--matrix", "file:x", "--rows", "3"}, "--rows belongs to"},
      {{"--core-bandwidth", "1 GB/s"}, "--core-bandwidth belongs to --kernel virtual"},
      {{"--message-bandwidth", "1 MB/s"}, "--message-bandwidth belongs to --kernel virtual"},
      {{"--kernel", "virtual", "--triad"}, "--triad belongs to --kernel real"},
      {{"--distribute", "columns"}, "not one of nonzeros, rows"},
  };
  for (const auto& [words, message] : refused) EXPECT_THAT(refusal(words), HasSubstr(message)) << words[1];
}

TEST(SpmvOptions, HelpNamesThePaperItsSectionsAndFigures) {
  const auto parsed = parse({"--help"});
  ASSERT_TRUE(parsed);
  const std::string text = std::get<Text>(*parsed).text;
  for (const char* word :
       {"Schubert", "sec. 1.3.1", "Fig. 5", "Fig. 6", "eqs. 1 and 2", "Rabenseifner", "m of R07's performance ratio"})
    EXPECT_THAT(text, HasSubstr(word));
}

}  // namespace
}  // namespace idlewave::spmv
