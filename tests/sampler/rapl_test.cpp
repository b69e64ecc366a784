// On a tree of files laid out as the kernel lays them out.

#include "probe/sampler/rapl.h"
#include "tests/any_seed.h"
#include "tests/sampler/file_tree.h"

#include <gmock/gmock.h>

#include <random>

namespace idlewave::sampler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
namespace fs = std::filesystem;

constexpr std::uint64_t kRange = 262'143'328'850;

/// A machine of two packages with two processors and one domain each, and memory whose energy is counted apart.
class Machine {
 public:
  Machine() {
    for (const int cpu : {0, 1, 2, 3}) package_of(cpu, cpu / 2);
    zone("intel-rapl:0", "package-0", 1'000'000);
    zone("intel-rapl:0:0", "core", 10);
    zone("intel-rapl:0:1", "dram", 500);
    zone("intel-rapl:1", "package-1", 7'000'000);
    zone("intel-rapl-mmio:0", "package-0", 1'000'000);
    fs::create_directories(root() + "/intel-rapl");
  }
  ~Machine() { fs::remove_all(folder_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::string root() const { return folder_ + "/powercap"; }
  std::string counter(const std::string& zone) const { return root() + "/" + zone + "/energy_uj"; }
  void package_of(int cpu, int package, int die = 0) const {
    const std::string topology = folder_ + "/cpu/cpu" + std::to_string(cpu) + "/topology";
    write(topology + "/physical_package_id", std::to_string(package));
    write(topology + "/die_id", std::to_string(die));
  }
  void zone(const std::string& zone, const std::string& name, std::uint64_t energy) const {
    write(root() + "/" + zone + "/name", name);
    write(root() + "/" + zone + "/max_energy_range_uj", std::to_string(kRange));
    count(zone, energy);
  }
  void count(const std::string& zone, std::uint64_t energy) const { write(counter(zone), std::to_string(energy)); }
  void meet() { rapl.meet({{0, "socket 0", 0, {0, 1}}, {1, "socket 1", 1, {2, 3}}}, ms(0)); }
  /// What is read then; `name` alone.
  std::vector<std::optional<std::uint64_t>> read(Nanoseconds at, const std::string& name, DomainId domain = 0) {
    std::vector<MeterReading> all;
    rapl.read_meters(at, all);
    std::vector<std::optional<std::uint64_t>> amounts;
    for (const MeterReading& each : all)
      if (each.meter.name == name && each.meter.domain == domain) amounts.push_back(each.amount);
    return amounts;
  }
  std::vector<wire::MeterInfo> meters(Nanoseconds at) {
    std::vector<MeterReading> all;
    rapl.read_meters(at, all);
    std::vector<wire::MeterInfo> meters;
    for (const MeterReading& each : all) meters.push_back(each.meter);
    return meters;
  }

 private:
  const std::string folder_ = new_folder();

 public:
  Rapl rapl{root(), folder_ + "/cpu"};
};

TEST(Rapl, HasAMeterForEachCounterOfAPackageThatRanksRunOn) {
  Machine machine;
  machine.meet();
  EXPECT_THAT(machine.meters(ms(1000)), IsEmpty());
  machine.rapl.place(0, 0);
  using wire::MeterInfo;
  EXPECT_THAT(machine.meters(ms(2000)),
              ElementsAre(MeterInfo{0, "package power", "W", "RAPL"}, MeterInfo{0, "core power", "W", "RAPL"},
                          MeterInfo{0, "DRAM power", "W", "RAPL"}));
  machine.rapl.place(1, 1);
  EXPECT_THAT(machine.meters(ms(3000)), SizeIs(4));
}

TEST(Rapl, TellsMicrojoulesSinceTheReadingBefore) {
  Machine machine;
  machine.meet();
  machine.rapl.place(0, 0);
  EXPECT_THAT(machine.read(ms(1000), "package power"), ElementsAre(std::nullopt));
  machine.count("intel-rapl:0", 17'000'000);
  EXPECT_THAT(machine.read(ms(1199), "package power"), IsEmpty()) << "not due yet";
  EXPECT_THAT(machine.read(ms(1200), "package power"), ElementsAre(16'000'000u));
  EXPECT_THAT(machine.read(ms(1400), "package power"), ElementsAre(0u));
}

TEST(Rapl, CountsOnWhereTheCounterBeginsAgain) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  Machine machine;
  machine.meet();
  machine.rapl.place(0, 0);
  std::uint64_t spent = random() % kRange;  // ever; the truth
  machine.count("intel-rapl:0", spent % kRange);
  machine.read(ms(0) + kInterval, "package power");
  std::uint64_t told = 0, truth = 0;
  for (int i = 2; i < 60; ++i) {
    const std::uint64_t more = random() % 19'000'000'000;  // microjoules, at most 95 kW
    spent += more, truth += more;
    machine.count("intel-rapl:0", spent % kRange);
    told += machine.read(i * kInterval, "package power").at(0).value();
  }
  EXPECT_GT(truth, kRange);
  EXPECT_EQ(told, truth);
}

TEST(Rapl, BeginsAnewAfterWhatItHasNotSeen) {
  Machine machine;
  machine.meet();
  machine.rapl.place(0, 0);
  machine.read(ms(1000), "package power");
  machine.count("intel-rapl:0", 3'000'000);
  EXPECT_THAT(machine.read(ms(30'000), "package power"), ElementsAre(std::nullopt)) << "it may have begun again twice";
  fs::remove(machine.counter("intel-rapl:0"));
  EXPECT_THAT(machine.read(ms(31'000), "package power"), IsEmpty());
  machine.count("intel-rapl:0", 4'000'000);
  EXPECT_THAT(machine.read(ms(32'000), "package power"), ElementsAre(std::nullopt));
  machine.count("intel-rapl:0", 1'000'000);
  EXPECT_THAT(machine.read(ms(33'000), "package power"), ElementsAre(std::nullopt)) << "somebody has set it back";
  machine.count("intel-rapl:0", 2'000'000);
  EXPECT_THAT(machine.read(ms(34'000), "package power"), ElementsAre(1'000'000u));
}

TEST(Rapl, SaysOfWhichDomainsAPackageIsThatHasSeveral) {
  Machine machine;
  machine.rapl.meet({{0, "NUMA 0", 0, {0}}, {1, "NUMA 1", 1, {1}}, {2, "NUMA 2", 2, {2, 3}}}, ms(0));
  machine.rapl.place(0, 1);
  EXPECT_THAT(machine.read(ms(1000), "package power (with NUMA 0)", 1), SizeIs(1));
}

TEST(Rapl, TellsTheDiesOfAPackageApart) {
  Machine machine;
  for (const int cpu : {0, 1, 2, 3}) machine.package_of(cpu, 0, cpu / 2);
  machine.zone("intel-rapl:0", "package-0-die-0", 1);
  machine.zone("intel-rapl:1", "package-0-die-1", 1);
  machine.meet();
  machine.rapl.place(0, 1);
  EXPECT_THAT(machine.meters(ms(1000)), ElementsAre(wire::MeterInfo{1, "package power", "W", "RAPL"}));
}

TEST(Rapl, TellsThePlatformOfAllDomains) {
  Machine machine;
  machine.zone("intel-rapl:2", "psys", 1);
  machine.meet();
  machine.rapl.place(0, 0);
  EXPECT_THAT(machine.read(ms(1000), "platform power (with socket 1)"), SizeIs(1));
}

TEST(Rapl, SaysWhyThereIsNoPower) {
  const Machine machine;
  EXPECT_EQ(why_no_rapl(machine.root()), "");
  EXPECT_THAT(why_no_rapl(machine.root() + "/nonexistent"), HasSubstr("intel_rapl_msr"));
  std::ofstream(machine.counter("intel-rapl:0")) << "what?";
  EXPECT_THAT(why_no_rapl(machine.root()), HasSubstr("says no number"));
  fs::permissions(machine.counter("intel-rapl:0"), fs::perms::none);
  const OrdinaryUser user;
  EXPECT_THAT(why_no_rapl(machine.root()), HasSubstr("chmod a+r"));
}

}  // namespace
}  // namespace idlewave::sampler
