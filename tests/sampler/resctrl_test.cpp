// On a tree of files laid out as the kernel lays them out.

#include "probe/sampler/resctrl.h"
#include "tests/any_seed.h"
#include "tests/sampler/file_tree.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace idlewave::sampler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A machine of two domains with an L3 cache each (0 and 1), its resctrl mounted, and a source that has met it.
class Machine {
 public:
  Machine() {
    write(root() + "/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes");
    for (const int cpu : {0, 1, 2, 3}) cache_of(cpu, cpu / 2);
    count(0, "1000");
    count(1, "5000");
    source.meet({{0, "socket 0", 0, {0, 1}}, {1, "socket 1", 1, {2, 3}}}, ms(0));
  }
  ~Machine() { fs::remove_all(folder_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::string root() const { return folder_ + "/resctrl"; }
  std::string cpus() const { return folder_ + "/cpu"; }
  void cache_of(int cpu, int cache) const {
    write(cpus() + "/cpu" + std::to_string(cpu) + "/cache/index3/id", std::to_string(cache));
  }
  std::string counter(int cache, const std::string& group = "") const {
    return root() + "/" + group + "/mon_data/mon_L3_0" + std::to_string(cache) + "/mbm_total_bytes";
  }
  void count(int cache, const std::string& text, const std::string& group = "") const {
    write(counter(cache, group), text);
  }
  std::string why_not(DomainId domain = 0, Nanoseconds at = ms(0)) { return source.standing({domain}, at).why_not; }
  bool is_ready(DomainId domain = 0, Nanoseconds at = ms(0)) { return source.standing({domain}, at).ready; }

 private:
  const std::string folder_ = new_folder();

 public:
  Resctrl source{root(), cpus()};
};

TEST(Resctrl, TellsTheBytesOfADomainSinceTheFigureBefore) {
  Machine machine;
  ASSERT_TRUE(machine.is_ready(1));
  machine.source.begin(1, ms(0));
  machine.count(1, "7500");
  EXPECT_EQ(machine.source.sample(1, ms(199)), std::nullopt);
  EXPECT_EQ(machine.source.sample(1, ms(200)), 2500u);
  EXPECT_EQ(machine.source.sample(1, ms(399)), std::nullopt);
  EXPECT_EQ(machine.source.sample(1, ms(400)), 0u);
}

TEST(Resctrl, AddsUpTheCachesOfADomain) {
  Machine machine;
  machine.source.meet({{0, "NUMA 0", 0, {0, 1, 2, 3}}}, ms(0));
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  machine.count(0, "1100");
  machine.count(1, "5030");
  EXPECT_EQ(machine.source.sample(0, ms(200)), 130u);
}

TEST(Resctrl, CountsWhatRunsInOtherGroupsOfTheRoot) {
  Machine machine;
  machine.count(0, "70", "batch");
  // a group for monitoring alone is counted in the one above it
  machine.count(0, "50", "mon_groups/watched");
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  machine.count(0, "1100");
  machine.count(0, "90", "batch");
  machine.count(0, "55", "mon_groups/watched");
  EXPECT_EQ(machine.source.sample(0, ms(200)), 120u);
}

TEST(Resctrl, AddsUpGroupsAndCachesWhateverTheyAre) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Machine machine;
  std::map<std::pair<std::string, int>, std::uint64_t> counts;
  for (const char* group : {"", "a", "b.c", "d e"}) {
    for (const int cache : {0, 1}) counts[{group, cache}] = random() >> (1 + random() % 60);
  }
  const auto write_all = [&] {
    for (const auto& [place, value] : counts) machine.count(place.second, std::to_string(value), place.first);
  };
  write_all();
  machine.source.meet({{0, "", 0, {0, 3}}}, ms(0));
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  for (int i = 1; i <= 30; ++i) {
    std::uint64_t moved = 0;
    for (auto& [place, value] : counts) {
      const std::uint64_t more = random() % 100'000'000;
      value += more;
      moved += more;
    }
    write_all();
    ASSERT_EQ(machine.source.sample(0, ms(200 * i)), moved) << i;
  }
}

TEST(Resctrl, TellsNoFigureOfAnIntervalInWhichACountFell) {
  Machine machine;
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  machine.count(0, "40");
  EXPECT_EQ(machine.source.sample(0, ms(200)), std::nullopt);
  // Counting begins again at once, from what is there now.
  ASSERT_TRUE(machine.is_ready(0, ms(205)));
  machine.source.begin(0, ms(205));
  machine.count(0, "100");
  EXPECT_EQ(machine.source.sample(0, ms(405)), 60u);
}

TEST(Resctrl, MustBeBegunAnewAfterACountFell) {
  Machine machine;
  // As if the counter of 62 bits had gone round: the kernel would have hidden that, so it is none.
  machine.count(0, "4611686018427387900");
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  machine.count(0, "100");
  EXPECT_EQ(machine.source.sample(0, ms(200)), std::nullopt);
  // the agent sees it by the next reading, which is not told before it has begun anew
  machine.count(0, "Error");
  EXPECT_TRUE(machine.is_ready(1, ms(205)));
  EXPECT_FALSE(machine.is_ready(0, ms(205)));
}

TEST(Resctrl, TellsNothingMoreThanAnyMemoryMoves) {
  // Hardware that lends its counters lets them begin anew; the kernel takes that for a wrap, and adds 2^44 lines.
  for (const std::uint64_t jump : {std::uint64_t{1} << 50, std::uint64_t{1} << 41, std::uint64_t{1} << 63}) {
    Machine machine;
    ASSERT_TRUE(machine.is_ready());
    machine.source.begin(0, ms(0));
    machine.count(0, std::to_string(1000 + jump));
    EXPECT_EQ(machine.source.sample(0, ms(200)), std::nullopt) << jump;
  }
}

TEST(Resctrl, TellsNoFigureOfAnIntervalInWhichAGroupCameOrWent) {
  Machine machine;
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  machine.count(0, "123456", "newcomer");
  EXPECT_EQ(machine.source.sample(0, ms(200)), std::nullopt);
  ASSERT_TRUE(machine.is_ready(0, ms(205)));
  machine.source.begin(0, ms(205));
  fs::remove_all(machine.root() + "/newcomer");
  EXPECT_EQ(machine.source.sample(0, ms(405)), std::nullopt);
}

TEST(Resctrl, SpansAReadingThatFailed) {
  for (const char* word : {"Unavailable", "Error", "Unassigned", "", "12x", "-5", "99999999999999999999999"}) {
    Machine machine;
    ASSERT_TRUE(machine.is_ready());
    machine.source.begin(0, ms(0));
    machine.count(0, word);
    EXPECT_EQ(machine.source.sample(0, ms(200)), std::nullopt) << word;
    EXPECT_TRUE(machine.is_ready(0, ms(205))) << word;
    machine.count(0, "1800");
    EXPECT_EQ(machine.source.sample(0, ms(399)), std::nullopt) << word;
    EXPECT_EQ(machine.source.sample(0, ms(400)), 800u) << word;
  }
}

TEST(Resctrl, GivesUpWithTheWordOfTheKernelAndComesBack) {
  Machine machine;
  ASSERT_TRUE(machine.is_ready());
  machine.source.begin(0, ms(0));
  machine.count(0, "Unavailable");
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(machine.source.sample(0, ms(200 * i)), std::nullopt);
  EXPECT_FALSE(machine.is_ready(0, ms(1005)));
  EXPECT_THAT(machine.why_not(0, ms(1005)),
              AllOf(HasSubstr("resctrl: "), HasSubstr("mbm_total_bytes says 'Unavailable'")));
  machine.count(0, "9000");
  ASSERT_TRUE(machine.is_ready(0, ms(7000)));
  machine.source.begin(0, ms(7000));
  machine.count(0, "9010");
  EXPECT_EQ(machine.source.sample(0, ms(7200)), 10u);
}

TEST(Resctrl, IsNotReadyWhileTheKernelHasNoCount) {
  for (const char* word : {"Unavailable", "Error", "Unassigned"}) {
    Machine machine;
    machine.count(0, word);
    EXPECT_FALSE(machine.is_ready());
    EXPECT_THAT(machine.why_not(), HasSubstr(word));
    EXPECT_TRUE(machine.is_ready(1));
  }
}

TEST(Resctrl, SaysHowItIsMounted) {
  Machine machine;
  fs::remove_all(machine.root());
  fs::create_directories(machine.root());
  EXPECT_FALSE(machine.is_ready());
  EXPECT_EQ(machine.why_not(), "resctrl: not mounted; as root: mount -t resctrl resctrl " + machine.root());
}

TEST(Resctrl, SaysWhatItTakesWhereTheKernelDoesNotOfferIt) {
  Machine machine;
  fs::remove_all(machine.root());
  EXPECT_FALSE(machine.is_ready());
  EXPECT_THAT(machine.why_not(), AllOf(HasSubstr("cqm_mbm_total"), HasSubstr("CONFIG_X86_CPU_RESCTRL")));
}

TEST(Resctrl, SaysThatTheProcessorCountsNoMemoryTraffic) {
  Machine machine;
  write(machine.root() + "/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes_config\nmbm_local_bytes");
  EXPECT_THAT(machine.why_not(), HasSubstr("rdt=mbmtotal"));
  fs::remove_all(machine.root() + "/info/L3_MON");  // allocation alone
  EXPECT_THAT(machine.why_not(1), HasSubstr("counts no memory traffic"));
}

TEST(Resctrl, SaysWhatMayNotBeRead) {
  Machine machine;
  fs::permissions(machine.counter(0), fs::perms::none);
  {
    const OrdinaryUser user;
    EXPECT_FALSE(machine.is_ready());
    EXPECT_THAT(machine.why_not(), AllOf(HasSubstr("mbm_total_bytes"), HasSubstr("permission denied")));
  }
  const auto why_not_without = [&](const std::string& folder) {
    fs::permissions(folder, fs::perms::none);
    const OrdinaryUser user;
    return why_no_resctrl(machine.root());
  };
  EXPECT_THAT(why_not_without(machine.root() + "/mon_data"), HasSubstr("mon_data may not be read"));
  EXPECT_THAT(why_not_without(machine.root() + "/info"), HasSubstr("may not be read"));
  for (const char* folder : {"/info", "/mon_data"}) fs::permissions(machine.root() + folder, fs::perms::owner_all);
}

TEST(Resctrl, ReadsTheNodeOfACacheThatTwoDomainsShare) {
  Machine machine;
  for (const int cpu : {0, 1, 2, 3}) machine.cache_of(cpu, 0);
  machine.source.meet({{0, "NUMA 0", 0, {0, 1}}, {1, "NUMA 1", 1, {2, 3}}}, ms(0));
  EXPECT_FALSE(machine.is_ready(1));
  EXPECT_THAT(machine.why_not(1), HasSubstr("serves several NUMA nodes"));
  const std::string cache = machine.root() + "/mon_data/mon_L3_00";
  write(cache + "/mon_sub_L3_00/mbm_total_bytes", "600");
  write(cache + "/mon_sub_L3_01/mbm_total_bytes", "400");
  ASSERT_TRUE(machine.is_ready(1, ms(6000)));
  machine.source.begin(1, ms(6000));
  write(cache + "/mon_sub_L3_01/mbm_total_bytes", "410");
  EXPECT_EQ(machine.source.sample(1, ms(6200)), 10u);
}

TEST(Resctrl, SaysThatTheSystemNamesNoCache) {
  Machine machine;
  fs::remove_all(machine.cpus());
  machine.source.meet({{0, "NUMA 0", 0, {0, 1}}}, ms(0));
  EXPECT_THAT(machine.why_not(), HasSubstr("L3 caches"));
}

TEST(Resctrl, KeepsToTheMachinesOwnDomains) {
  Machine machine;
  EXPECT_FALSE(machine.source.standing({.id = 0, .is_virtual = true}, ms(0)).ready);
  EXPECT_FALSE(machine.source.standing({.id = 7}, ms(0)).ready);
  EXPECT_EQ(machine.why_not(7), "");
}

}  // namespace
}  // namespace idlewave::sampler
