#include "sim/scenario/scenario.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

using Values = std::map<std::string, std::string>;

const char kFile[] =
    "# comment\n"
    "job { goal: \"a/app.weft\" }\n"
    "network { wires { mtu: \"2KiB\" } }\n"
    "topology {\n"
    "  tree { k: 8 link: \"100Gbps\" }\n"
    "}\n"
    "hosts { o: \"2us\" O: 0.5 }\n"
    "seed: 7\n";

std::vector<Setting> settings(const std::vector<std::string>& sets) {
  std::vector<Setting> found;
  for (const std::string& set : sets) found.push_back(parse_setting(set));
  return found;
}

Draft read(const std::string& text, const std::vector<std::string>& sets = {}) {
  return read_scenario(test_registries(), text, "s.txtpb", settings(sets));
}
Scenario resolved(const std::string& text, const std::vector<std::string>& sets = {}) {
  return resolve(read(text, sets), test_registries());
}

// What to do is the same, wherever it was given.
void check_equal(const Draft& a, const Draft& b) {
  REQUIRE(a.jobs.size() == b.jobs.size());
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    CHECK(a.jobs[i].goal == b.jobs[i].goal);
    CHECK(a.jobs[i].traffic.name == b.jobs[i].traffic.name);
    CHECK(a.jobs[i].traffic.given == b.jobs[i].traffic.given);
    CHECK(a.jobs[i].name == b.jobs[i].name);
  }
  for (const Seam& seam : seams()) {
    CHECK((a.*seam.choice).name == (b.*seam.choice).name);
    CHECK((a.*seam.choice).given == (b.*seam.choice).given);
  }
  CHECK(a.hosts.given == b.hosts.given);
  REQUIRE(a.faults.size() == b.faults.size());
  for (std::size_t i = 0; i < a.faults.size(); ++i) CHECK(a.faults[i].given == b.faults[i].given);
  CHECK(a.collectives.given == b.collectives.given);
  CHECK(a.seed == b.seed);
  CHECK(a.threads == b.threads);
  CHECK(a.output.directory == b.output.directory);
  CHECK(a.output.flows == b.output.flows);
  CHECK(a.output.sqlite == b.output.sqlite);
  CHECK(a.output.timeline == b.output.timeline);
  CHECK(a.output.sample_interval == b.output.sample_interval);
  CHECK(a.output.sample_links == b.output.sample_links);
  CHECK(a.output.packet_log == b.output.packet_log);
  CHECK(a.output.pcapng == b.output.pcapng);
  CHECK(a.limits.time == b.limits.time);
  CHECK(a.limits.events == b.limits.events);
  CHECK(a.limits.memory_bytes == b.limits.memory_bytes);
  // "" where they have no effect, which is not written.
  CHECK((a.connections == b.connections || a.connections.empty()));
  CHECK(a.connection_idle == b.connection_idle);
}
void check_equal(const Scenario& a, const Scenario& b) { check_equal(draft_of(a), draft_of(b)); }

}  // namespace

TEST_CASE("scenario: what a file gives") {
  const Draft draft = read(kFile);
  REQUIRE(draft.jobs.size() == 1);
  CHECK(draft.jobs[0].goal == "a/app.weft");
  CHECK(draft.network.name == "wires");
  CHECK(draft.network.given == Values{{"mtu", "2KiB"}});
  CHECK(draft.topology.name == "tree");
  CHECK(draft.topology.given == Values{{"k", "8"}, {"link", "100Gbps"}});
  CHECK(draft.topology.location.prefix() == "s.txtpb:5:3: ");
  CHECK(draft.topology.locations.at("link").prefix() == "s.txtpb:5:15: ");
  CHECK(draft.routing.empty());
  CHECK(draft.hosts.given == Values{{"o", "2us"}, {"O", "0.5"}});
  CHECK(draft.seed == 7);
}

TEST_CASE("scenario: every default is filled in") {
  const Scenario scenario = resolved(kFile);
  CHECK(scenario.jobs[0].name == "app");
  CHECK(scenario.topology.given ==
        Values{{"k", "8"}, {"link", "100Gbps"}, {"taper", "1"}, {"ring", "false"}});
  CHECK(scenario.routing.name == "hash");
  CHECK(scenario.congestion.name == "marked");
  CHECK(scenario.congestion.given == Values{{"gain", "0.0625"}});
  // The control acts on marks, so the queue that sets them is taken, not the first.
  CHECK(scenario.queue.name == "marking");
  CHECK(scenario.hosts.given == Values{{"o", "2us"},
                                       {"O", "0.5"},
                                       {"S", "auto"},
                                       {"collective_S", "auto"},
                                       {"protocol", "auto"},
                                       {"reduction_per_byte", "0"},
                                       {"reduction_from_memory", "0"},
                                       {"copy_per_byte", "0"},
                                       {"copy_from_memory", "0"},
                                       {"cache", "32MiB"},
                                       {"ranks_per_host", "1"}});
  CHECK(scenario.collectives.given == Values{{"allreduce", "doubling"}, {"barrier", "dissemination"}});
  CHECK(scenario.threads == 1);
  CHECK(scenario.output.flows);
  CHECK(scenario.limits.time == Time());
  CHECK(scenario.warnings.empty());
}

TEST_CASE("scenario: a control that looks at no marks gets the first queue") {
  CHECK(resolved(kFile, {"congestion=fixed"}).queue.name == "tail");
}

TEST_CASE("scenario: the network model follows from what is given") {
  const std::string job = "job { goal: \"a\" }";
  CHECK(resolved(job).network.name == "message");
  CHECK(resolved(job, {"topology=hub:hosts=3"}).network.name == "wires");
}

TEST_CASE("scenario: the resolved text gives the same scenario") {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {kFile, {}},
      {kFile, {"network=message:G=0.04,g=12.5ns"}},
      {kFile, {"congestion=fixed", "routing=spread:paths=16", "threads=1", "collectives.allreduce=ring"}},
      {"job { goal: \"b \\\"quoted\\\" \303\244.weft\" name: \"x\" }", {}},
      {kFile,
       {"limits.time=1.5ms", "limits.events=12345678901", "limits.memory=3GiB", "output.directory=run 1",
        "output.flows=false", "output.sqlite=false", "output.timeline=on", "seed=18446744073709551615",
        "topology.tree.taper=1e-7", "topology.tree.ring=true"}},
      {kFile,
       {"output.directory=run", "output.sample_interval=2.5us", "output.sample_links=a -> *, b -> c",
        "output.packet_log=3-7#1", "output.pcapng=3,7"}},
      {std::string(kFile) +
           "fault { link: \"a / b\" until: \"2us\" rate: 0.1 }\nfault { switch: \"c*\" at: \"1ms\" }\n",
       {"fault=random_links=2", "fault=random_links=0,between=a / *,bit_error_rate=1e-12",
        "fault=link=*,at=1us,until=2us,period=10us,times=5"}},
  };
  for (const auto& [text, sets] : cases) {
    std::string file = text;
    // The file's topology can't act at message level; there it would be a warning, tested below.
    if (!sets.empty() && sets[0].starts_with("network=message")) file = "job { goal: \"a\" }";
    const Scenario scenario = resolved(file, sets);
    const std::string printed = to_text(scenario, test_registries());
    INFO(printed);
    const Scenario again = resolved(printed);
    check_equal(scenario, again);
    CHECK(again.warnings.empty());
    CHECK(to_text(again, test_registries()) == printed);
    // Nothing is left to defaults: what is read is complete before it is resolved.
    check_equal(draft_of(scenario), read(printed));
    // So resolving twice changes nothing.
    const Scenario twice = resolve(draft_of(scenario), test_registries());
    check_equal(scenario, twice);
    CHECK(twice.warnings.empty());
    CHECK(to_text(twice, test_registries()) == printed);
  }
}

TEST_CASE("scenario: a draft's text gives the same draft, with all that it leaves open") {
  const std::vector<std::string> files = {
      "", kFile, "job { goal: \"a\" hosts { o: \"1us\" } at: \"2us\" }\noutput { timeline: \"off\" }\n",
      "job_list { file: \"log.swf\" time_scale: 1e6 jobs: 7 estimate_factor: 0.5\n"
      "  model { name: \"m\" least_ranks: 2 most_ranks: 8 traffic { shift { by: 2 } } compute_scale: 3 }\n"
      "  model { goal: \"a\" hosts { O: 1 } collectives { allreduce: \"ring\" } } }\n"};
  for (const std::string& file : files) {
    const Draft draft = read(file);
    const std::string printed = to_text(draft, test_registries());
    INFO(printed);
    const Draft again = read(printed);
    check_equal(draft, again);
    CHECK(to_text(again, test_registries()) == printed);
    CHECK(again.connections == "auto");
    CHECK(again.routing.empty());
    CHECK(again.job_list.file == draft.job_list.file);
    CHECK(again.job_list.time_scale == draft.job_list.time_scale);
    CHECK(again.job_list.jobs == draft.job_list.jobs);
    CHECK(again.job_list.estimate_factor == draft.job_list.estimate_factor);
    REQUIRE(again.job_list.models.size() == draft.job_list.models.size());
    for (std::size_t i = 0; i < draft.job_list.models.size(); ++i) {
      const JobModel &a = again.job_list.models[i], &b = draft.job_list.models[i];
      CHECK(a.least_ranks == b.least_ranks);
      CHECK(a.most_ranks == b.most_ranks);
      CHECK(a.job.name == b.job.name);
      CHECK(a.job.goal == b.job.goal);
      CHECK(a.job.traffic.given == b.job.traffic.given);
      CHECK(a.job.hosts.given == b.job.hosts.given);
      CHECK(a.job.collectives.given == b.job.collectives.given);
      CHECK(a.job.compute_scale == b.job.compute_scale);
    }
  }
}

TEST_CASE("scenario: the resolved text names every parameter") {
  CHECK(to_text(resolved(kFile), test_registries()) ==
        "job {\n  goal: \"a/app.weft\"\n  name: \"app\"\n}\n"
        "network {\n  wires {\n    mtu: \"2KiB\"\n  }\n}\n"
        "topology {\n  tree {\n    k: 8\n    link: \"100Gbps\"\n    taper: 1\n    ring: false\n  }\n}\n"
        "routing {\n  hash {\n  }\n}\n"
        "congestion {\n  marked {\n    gain: 0.0625\n  }\n}\n"
        "queue {\n  marking {\n    kmin: \"100KB\"\n  }\n}\n"
        "hosts {\n  o: \"2us\"\n  O: 0.5\n  S: \"auto\"\n  collective_S: \"auto\"\n  protocol: \"auto\"\n  "
        "reduction_per_byte: 0\n  reduction_from_memory: 0\n  copy_per_byte: 0\n  "
        "copy_from_memory: 0\n  cache: \"32MiB\"\n"
        "  ranks_per_host: 1\n}\n"
        "collectives {\n  allreduce: \"doubling\"\n  barrier: \"dissemination\"\n}\n"
        "seed: 7\nthreads: 1\n"
        "output {\n  flows: true\n  sample_interval: \"0ps\"\n"
        "  sample_links: \"switches\"\n  packet_log: \"\"\n  pcapng: \"\"\n  sqlite: true\n  timeline: "
        "\"auto\"\n}\n"
        "limits {\n  time: \"0ps\"\n  events: 0\n  memory: \"0B\"\n}\n"
        "connections: \"per_pair\"\nconnection_idle: \"0ps\"\n");
}

TEST_CASE("scenario: settings override the file, later ones the earlier") {
  const Draft draft = read(kFile, {"topology.tree.k=16", "seed=3", "seed=4", "hosts.S=64KiB",
                                   "job.goal=other.goal", "output.flows=no"});
  CHECK(draft.topology.given == Values{{"k", "16"}, {"link", "100Gbps"}});
  CHECK(draft.topology.locations.at("k").prefix() == "--set topology.tree.k=16: ");
  CHECK(draft.seed == 4);
  CHECK(draft.hosts.given.at("S") == "64KiB");
  CHECK(draft.jobs[0].goal == "other.goal");
  CHECK_FALSE(draft.output.flows);
  // A parameter of another module replaces the one chosen.
  CHECK(read(kFile, {"topology.hub.hosts=5"}).topology.name == "hub");
  CHECK(read(kFile, {"topology.hub.hosts=5"}).topology.given == Values{{"hosts", "5"}});
}

TEST_CASE("scenario: short forms") {
  // Where the module stays, so do its other parameters; another one replaces the choice.
  CHECK(read(kFile, {"topology=tree:k=32"}).topology.given == Values{{"k", "32"}, {"link", "100Gbps"}});
  CHECK(read(kFile, {"topology=hub:hosts=2"}).topology.given == Values{{"hosts", "2"}});
  CHECK(read(kFile, {"topology=tree"}).topology.given == Values{{"k", "8"}, {"link", "100Gbps"}});
  const Setting flag{"--topology", "topology", "hub:hosts=x"};
  CHECK_THROWS_WITH(read_scenario(test_registries(), "", "", {&flag, 1}),
                    "--topology: hosts: 'x' is not a whole number");
}

TEST_CASE("scenario: what is set inside of a module chooses it against the file, not against a setting") {
  CHECK(read(kFile, {"topology.hub.hosts=2"}).topology.given == Values{{"hosts", "2"}});
  CHECK(read(kFile, {"topology=hub", "topology.hub.hosts=2"}).topology.given == Values{{"hosts", "2"}});
  CHECK(read(kFile, {"topology.hub.hosts=2", "topology=hub:hosts=3"}).topology.given ==
        Values{{"hosts", "3"}});
  CHECK_THROWS_WITH(
      read(kFile, {"topology=hub:hosts=2", "topology.tree.k=4"}),
      "--set topology.tree.k=4: topology is hub by --set topology=hub:hosts=2: give one of the two");
  CHECK(read(kFile, {"topology=tree:k=4", "topology=hub:hosts=3"}).topology.given == Values{{"hosts", "3"}});
}

TEST_CASE("scenario: a whole number that the module works out is auto, or left out") {
  const std::string job = "job { goal: 'a' }\n";
  for (const char* given : {"topology=hub:hosts=2", "topology=hub:hosts=2,rows=auto"}) {
    const Scenario scenario = resolved(job, {given});
    CHECK(scenario.topology.given == Values{{"hosts", "2"}, {"rows", "auto"}});
    const std::string printed = to_text(scenario, test_registries());
    CHECK(printed.find("rows") == std::string::npos);
    CHECK(resolved(printed).topology.given == scenario.topology.given);
  }
  CHECK(resolved(job, {"topology=hub:hosts=2,rows=3"}).topology.given.at("rows") == "3");
  CHECK_THROWS_WITH(resolved(job, {"topology=hub:hosts=auto"}),
                    "--set topology=hub:hosts=auto: hosts: 'auto' is not a whole number");
}

TEST_CASE("scenario: so is a real one") {
  Registries registries = test_registries();
  registries.congestion[1].info.parameters.push_back({"share", ParameterType::kReal, "auto", "h"});
  const auto with = [&](const std::string& choice) {
    const Setting set = parse_setting(choice);
    return resolve(read_scenario(registries, kFile, "", {&set, 1}), registries);
  };
  for (const char* given : {"congestion=fixed", "congestion=fixed:share=auto"}) {
    const Scenario scenario = with(given);
    CHECK(scenario.congestion.given == Values{{"packets", "8"}, {"share", "auto"}});
    const std::string printed = to_text(scenario, registries);
    CHECK(printed.find("share") == std::string::npos);
    CHECK(resolve(read_scenario(registries, printed, "", {}), registries).congestion.given ==
          scenario.congestion.given);
  }
  CHECK(with("congestion=fixed:share=0.5").congestion.given.at("share") == "0.5");
  CHECK_THROWS_WITH(with("congestion=fixed:share=some"),
                    "--set congestion=fixed:share=some: share: 'some' is not a number");
}

TEST_CASE("scenario: one file for several network models") {
  const Scenario scenario = resolved(kFile, {"network=message"});
  CHECK(scenario.topology.empty());
  CHECK(scenario.network.given.at("o") == "1500");
  CHECK(scenario.hosts.given.count("o") == 0);
  CHECK(
      scenario.warnings ==
      std::vector<std::string>{
          "s.txtpb:5:3: topology without effect: network model message has none",
          "s.txtpb:7:9: hosts.o has no effect: network model message has its own o; set network.message.o"});
  // What can't act is left out of the resolved text, which so gives no warning.
  CHECK(resolved(to_text(scenario, test_registries())).warnings.empty());
}

TEST_CASE("scenario: measurements that a run can't take are dropped with a warning") {
  const std::string text =
      "job { goal: \"a\" }\ntopology { tree {} }\noutput {\n  directory: \"run\"\n  pcapng: \"3\"\n}\n";
  CHECK(resolved(text).output.pcapng == "3");
  CHECK(resolved(text).warnings.empty());
  const Scenario scenario = resolved(text, {"network=message"});
  CHECK(scenario.output.pcapng.empty());
  CHECK(scenario.warnings ==
        std::vector<std::string>{
            "s.txtpb:2:12: topology without effect: network model message has none",
            "s.txtpb:5:3: output.pcapng has no effect: network model message has no packets"});
}

TEST_CASE("scenario: a network without packets takes topology, routing and samples, and no more") {
  const std::string text =
      "job { goal: \"a\" }\nnetwork { fluid {} }\ntopology { tree {} }\ncongestion { fixed {} }\n"
      "output {\n  directory: \"run\"\n  packet_log: \"3-7\"\n  sample_interval: \"1us\"\n}\n"
      "fault { link: \"*\" rate: 0.5\n  bit_error_rate: 1e-9\n  scale_queue: true }\n";
  const Scenario scenario = resolved(text);
  CHECK(scenario.topology.name == "tree");
  CHECK(scenario.routing.name == "hash");
  CHECK(scenario.congestion.empty());
  CHECK(scenario.queue.empty());
  CHECK(scenario.output.sample_interval == Time::us(1));
  CHECK(scenario.faults.at(0).given.at("bit_error_rate") == "0");
  CHECK(scenario.faults.at(0).given.at("scale_queue") == "false");
  CHECK(scenario.faults.at(0).given.at("rate") == "0.5");
  CHECK(scenario.warnings ==
        std::vector<std::string>{
            "s.txtpb:4:14: congestion without effect: network model fluid has none",
            "s.txtpb:11:3: fault.bit_error_rate has no effect: network model fluid has no packets",
            "s.txtpb:12:3: fault.scale_queue has no effect: network model fluid has no packets",
            "s.txtpb:7:3: output.packet_log has no effect: network model fluid has no packets"});
  CHECK(resolved(to_text(scenario, test_registries())).warnings.empty());
  CHECK_THROWS_WITH(resolved("job { goal: \"a\" }", {"network=fluid", "topology=tree", "queue=tail"}),
                    "--set queue=tail: queue discipline 'tail' has no effect: network model fluid has none");
}

TEST_CASE("scenario: settings without effect") {
  CHECK(resolved(kFile, {"threads=4"}).warnings.empty());
  CHECK(resolved("job { goal: \"a\" }", {"network=message", "threads=4"}).warnings ==
        std::vector<std::string>{
            "threads: 4 asked for, but network model message runs on one; results are the same"});
  CHECK(resolved(kFile, {"congestion=fixed", "queue=marking"}).warnings ==
        std::vector<std::string>{
            "--set queue=marking: queue discipline marking sets ECN marks, which congestion "
            "control fixed does not look at"});
}

TEST_CASE("scenario: errors in a file name line and column") {
  const auto check = [](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(resolved(text), message);
  };
  const std::string job = "job { goal: \"a\" }\n";
  check(job + "sead: 3\n", "s.txtpb:2:1: 'sead' is not a field of scenario; did you mean 'seed'?");
  check(job + "topology {\n  tre { k: 8 }\n}\n",
        "s.txtpb:3:3: 'tre' is not a topology; did you mean 'tree'? (known: hub, tree)");
  check(job + "topology { tree {\n\n  lnk: \"1Gbps\" } }\n",
        "s.txtpb:4:3: 'lnk' is not a parameter of tree; did you mean 'link'? (known: k, link, taper, ring)");
  check(job + "output { dir: \"x\" }",
        "s.txtpb:2:10: 'dir' is not a field of output (known: directory, flows, sample_interval, "
        "sample_links, packet_log, pcapng, baseline, interference, sqlite, timeline)");
  check(job + "topology { tree { k: \"8\" } }", "s.txtpb:2:22: found \"8\" where a whole number is expected");
  check(job + "topology { tree { link: 400 } }",
        "s.txtpb:2:25: found 400 where text in quotes is expected, like \"400Gbps\"");
  check(job + "topology { tree {\n  link: \"400Gbp\" } }",
        "s.txtpb:3:3: tree: link: '400Gbp' has the unit 'Gbp', which no bandwidth has; units are bps, kbps, "
        "Mbps, "
        "Gbps, Tbps, b/s, kb/s, Mb/s, Gb/s, Tb/s, kB/s, MB/s, GB/s, TB/s");
  check(job + "seed: 1\nseed: 2\n", "s.txtpb:3:1: 'seed' is given twice");
  check(job + "topology { tree {}\n hub {} }", "s.txtpb:3:2: 'hub' is given beside 'tree'; choose one");
  check(job + "topology {}", "s.txtpb:2:1: 'topology' names no topology");
  check(job + "topology { hub {} }", "s.txtpb:2:12: hub needs a value for 'hosts': number of hosts");
  check(job + "seed: -1", "s.txtpb:2:7: found a minus sign where a number of 0 or more is expected");
  check(job + "threads: 0", "s.txtpb:2:1: threads: 0, but one is needed");
  check(job + "limits { time: \"3 parsecs\" }",
        "s.txtpb:2:10: limits.time: '3 parsecs' has the unit 'parsecs', which no time has; units are ps, ns, "
        "us, "
        "ms, s");
  check(job + "collectives { allreduce: \"rign\" }",
        "s.txtpb:2:15: 'rign' is not a choice for allreduce; did you mean 'ring'? (known: doubling, ring)");
  check(job + "hosts { ranks_per_host: 0 }",
        "s.txtpb:2:9: hosts: ranks_per_host is '0', but it must be from 1 to 4294967295");
  check(job + "hosts { ranks_per_host: 5000000000 }",
        "s.txtpb:2:9: hosts: ranks_per_host is '5000000000', but it must be from 1 to 4294967295");
  check(job + "hosts { O: -1 }", "s.txtpb:2:9: hosts: O is '-1', but it must be from 0 to 1000000");
  check(job + "hosts { O: inf }", "s.txtpb:2:9: hosts: O: 'inf' is not a finite number");
  check(job + "\njob { goal: \"b\" repeat: 0 }",
        "s.txtpb:3:1: repeat of this job is 0, but it is how often it runs in all");
  check(job + "\njob { goal: \"b\" at: \"soon\" }",
        "s.txtpb:3:17: at: 'soon' is not a time; write it like 1.5us");
  check("job { }", "s.txtpb:1:1: this job has nothing to do: give its goal (a GOAL file) or its traffic");
  check("seed: 1",
        "there is nothing to run: give a GOAL file with --goal FILE or job { goal: \"FILE\" }, or generated "
        "traffic with --traffic NAME or job { traffic { NAME {} } }");
  check("job {\n goal: \"a\" traffic { shift {} } }",
        "s.txtpb:2:22: traffic 'shift' is given beside goal 'a'; a job has one of them");
  check("job { traffic { shfit {} } }",
        "s.txtpb:1:17: 'shfit' is not a traffic pattern; did you mean 'shift'? (known: shift, steps)");
  check("job { traffic {\n shift { size: \"2 blocks\" } } }",
        "s.txtpb:2:10: shift: size: '2 blocks' has the unit 'blocks', which no size in bytes has; units are "
        "B, kB, "
        "KB, MB, GB, TB, KiB, MiB, GiB, TiB");
  check(job + "network { wires {} }",
        "s.txtpb:2:11: network model wires needs a topology: give --topology NAME:key=value,… or topology { "
        "NAME { "
        "… } } (known: hub, tree)");
  check(job + "topology { tree {} }\ncongestion { marked {} }\nqueue { tail {} }",
        "s.txtpb:4:9: congestion control marked acts on ECN marks, and queue discipline tail never sets any; "
        "choose "
        "a queue that does (marking) or another control (fixed)");
  CHECK_THROWS_WITH(resolved("job { goal: \"a }\n"), Catch::StartsWith("s.txtpb:1:17: "));
  CHECK_THROWS_WITH(resolved("job { goal: \"a\" \n"), Catch::StartsWith("s.txtpb:2:1: "));
}

TEST_CASE("scenario: errors in settings name the flag") {
  const auto check = [](const std::vector<std::string>& sets, const std::string& message) {
    CHECK_THROWS_WITH(resolved(kFile, sets), message);
  };
  check({"seed"}, "--set seed: expected field=value, like --set topology.fat_tree.k=8 or --set seed=7");
  check({"seeed=1"}, "--set seeed=1: 'seeed' is not a field of scenario; did you mean 'seed'?");
  check(
      {"topology.tree.kk=1"},
      "--set topology.tree.kk=1: 'kk' is not a parameter of tree; did you mean 'k'? (known: k, link, taper, "
      "ring)");
  check({"topology.tree.k=x"}, "--set topology.tree.k=x: k: 'x' is not a whole number");
  check({"topology.tree.taper=nan"}, "--set topology.tree.taper=nan: taper: 'nan' is not a number");
  check({"topology.tree.ring=maybe"}, "--set topology.tree.ring=maybe: ring: 'maybe' is not true or false");
  check({"seed=-1"}, "--set seed=-1: seed: '-1' is not a whole number of 0 or more");
  check({"threads=4294967296"}, "--set threads=4294967296: threads: '4294967296' is out of range");
  check({"threads=-1"}, "--set threads=-1: threads: '-1' is not a whole number of 0 or more");
  check({"seed.x=1"}, "--set seed.x=1: 'seed' is a value and has no fields");
  check({"output=x"},
        "--set output=x: 'output' has fields of its own; set one of them: directory, flows, "
        "sample_interval, sample_links, packet_log, pcapng, baseline, interference, sqlite, timeline");
  check({"topology=tee"},
        "--set topology=tee: 'tee' is not a topology; did you mean 'tree'? (known: hub, tree)");
  check({"topology=tree:k"},
        "--set topology=tree:k: 'tree:k' has 'k' where key=value was expected; write NAME or "
        "NAME:key=value,key=value");
  check({"hosts.o=1 hour"},
        "--set hosts.o=1 hour: hosts: o: '1 hour' has the unit 'hour', which no time has; units are ps, ns, "
        "us, ms, "
        "s");
  check(
      {"output.sample_interval=-1us"},
      "--set output.sample_interval=-1us: output.sample_interval: '-1us' is negative; a time can't be (write "
      "it like 1.5us)");
  // What can't act is an error when it was asked for on the command line.
  check({"output.pcapng=3"},
        "--set output.pcapng=3: output.pcapng has no effect: no directory is given for its file");
  check({"network=message", "output.directory=run", "output.packet_log=3-7"},
        "--set output.packet_log=3-7: output.packet_log has no effect: network model message has no packets");
  check({"output.directory=run", "output.sample_links=all"},
        "--set output.sample_links=all: output.sample_links has no effect without output.sample_interval");
  check({"network=message", "topology.tree.k=16"},
        "--set topology.tree.k=16: topology 'tree' has no effect: network model message has none");
  check({"network=message", "routing=hash"},
        "--set routing=hash: routing policy 'hash' has no effect: network model message has none");
  check(
      {"network=message", "hosts.o=1us"},
      "--set hosts.o=1us: hosts.o has no effect: network model message has its own o; set network.message.o");
}

TEST_CASE("scenario: generated traffic") {
  const std::string text = "job { traffic { shift { by: 3 } } }\ntopology { tree {} }";
  const Scenario scenario = resolved(text);
  CHECK(scenario.jobs[0].name == "shift");
  CHECK(scenario.jobs[0].traffic.given == Values{{"size", "2MB"}, {"by", "3"}});
  // Traffic is about the network: hosts cost nothing, unless told to.
  CHECK(scenario.hosts.given.at("o") == "0ns");
  CHECK(scenario.hosts.given.at("S") == "1000TB");
  CHECK(resolved(text, {"hosts.o=1us"}).hosts.given.at("o") == "1us");
  // Rounds of collectives block as ideal's sends do, unless an S is given; what is resolved says so.
  const std::string limit = scenario.hosts.given.at("collective_S");
  CHECK(limit != "auto");
  CHECK(resolved(text, {"hosts.S=1000TB"}).hosts.given.at("collective_S") == "auto");
  CHECK(resolved(text, {"hosts.S=1000TB", "hosts.collective_S=" + limit}).hosts.given ==
        scenario.hosts.given);
  check_equal(resolved(to_text(scenario, test_registries())), scenario);
  // On the command line, in short form; and its parameters one by one.
  CHECK(resolved("topology { tree {} }", {"job.traffic=shift:by=2"}).jobs[0].traffic.given.at("by") == "2");
  CHECK(resolved(text, {"job.traffic.shift.by=5"}).jobs[0].traffic.given.at("by") == "5");
  CHECK_THROWS_WITH(resolved(text, {"job.traffic=shift:bye=2"}),
                    "--set job.traffic=shift:bye=2: 'bye' is not a parameter of shift; did you mean 'by'? "
                    "(known: size, by)");
}

TEST_CASE("scenario: a file that can't be read") {
  CHECK_THROWS_WITH(load_scenario(test_registries(), "no/such/file.txtpb", {}),
                    "no/such/file.txtpb: can't read the file: No such file or directory");
}

}  // namespace weft::sim
