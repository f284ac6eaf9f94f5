// weft list and weft describe against the modules' own descriptions.
#include "tools/weft/cli/list.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"

namespace weft::cli {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

Catalog small() {
  Catalog catalog;
  sim::Registries& registries = catalog.registries;
  registries.networks = {
      {.info = {
           "wires", "A network.", "Someone, 2001", {{"mtu", ParameterType::kBytes, "4096", "Payload."}}}}};
  registries.topologies = {{.info = {"tree",
                                     "A tree.",
                                     "",
                                     {{"k", ParameterType::kInteger, "", "Ports."},
                                      {"link", ParameterType::kBandwidth, "", "Rate."},
                                      {"note", ParameterType::kText, "", "A word."}}}}};
  registries.algorithms = {{"allreduce", {"ring", "Around.", "", {}}},
                           {"allgather", {"ring", "Once.", "", {}}}};
  return catalog;
}

}  // namespace

TEST_CASE("list: kinds, names and sentences") {
  CHECK(list_text(small(), "", false) ==
        "network\n"
        "  wires            A network.\n"
        "\ntopology\n"
        "  tree             A tree.\n"
        "\nrouting\n\ncongestion\n\nrecovery\n\nqueue\n\ntraffic\n"
        "\nfabric\n"
        "\nplacement\n"
        "\ncollective\n"
        "  allreduce: ring  Around.\n"
        "  allgather: ring  Once.\n"
        "\nprotocol\n\nscheduler\n\nimporter\n\nsink\n\ndevice\n");
  CHECK(list_text(small(), "topology", false) == "topology\n  tree  A tree.\n");
  CHECK(list_text(small(), "", true) == "network wires\ntopology tree\ncollective ring\n");
  CHECK(list_text(small(), "collective", true) == "collective ring\n");
  CHECK_THROWS_WITH(
      list_text(small(), "topologie", false),
      "'topologie' is not a kind of module; did you mean 'topology'? (known: network, topology, "
      "routing, congestion, recovery, queue, traffic, fabric, placement, collective, protocol, scheduler, "
      "importer, sink, device)");
  for (const char* many : {"topologies", "networks", "collectives"})
    CHECK_NOTHROW(list_text(small(), many, false));
  CHECK(list_text(small(), "topologies", false) == list_text(small(), "topology", false));
}

TEST_CASE("describe: what a module takes and how to choose it") {
  CHECK(describe_text(small(), "tree") ==
        "tree (topology)\n"
        "  A tree.\n"
        "\n"
        "  --topology tree:k=…,link=…\n"
        "  topology { tree { k: … link: \"…\" } }\n"
        "\n"
        "  parameter  type       default   meaning\n"
        "  k          integer    required  Ports.\n"
        "  link       bandwidth  required  Rate.\n"
        "  note       text                 A word.\n");
  CHECK(describe_text(small(), "ring") ==
        "ring (collective algorithm for allreduce)\n"
        "  Around.\n"
        "\n"
        "  --set collectives.allreduce=ring\n"
        "  collectives { allreduce: \"ring\" }\n"
        "\n"
        "ring (collective algorithm for allgather)\n"
        "  Once.\n"
        "\n"
        "  --set collectives.allgather=ring\n"
        "  collectives { allgather: \"ring\" }\n");
  CHECK(describe_text(small(), "allgather") ==
        "ring (collective algorithm for allgather)\n"
        "  Once.\n"
        "\n"
        "  --set collectives.allgather=ring\n"
        "  collectives { allgather: \"ring\" }\n");
  CHECK(describe_text(small(), "topology") == list_text(small(), "topology", false));
  // A word that names both a module and a kind.
  Catalog both = small();
  both.registries.traffic = {{.info = {"collective", "Calls.", "", {}}}};
  CHECK(describe_text(both, "collective") ==
        "collective (traffic)\n"
        "  Calls.\n"
        "\n"
        "  --traffic collective\n"
        "  job { traffic { collective { } } }\n"
        "  weft goal gen collective --ranks … -o FILE.weft\n"
        "\n" +
            list_text(both, "collective", false));
  CHECK_THROWS_WITH(
      describe_text(small(), "tre"),
      "'tre' is not a module; did you mean 'tree'? (known: wires, tree, ring, hosts, collectives, fault)");
}

TEST_CASE("describe: a kind before the name, and devices") {
  const Catalog catalog = builtin_catalog();
  const std::string h100 = describe_text(catalog, "h100", "device");
  CHECK(h100 == describe_text(catalog, "h100"));
  CHECK_THAT(h100, Catch::Contains("989.4") && Catch::Contains("fitted to measurements") &&
                       Catch::Contains("To be doubted"));
  CHECK_THAT(list_text(catalog, "devices", false), Catch::Contains("(not measured; as h100)"));
  // "collective" is a traffic pattern, too.
  CHECK_THAT(describe_text(catalog, "collective", "traffic"), Catch::StartsWith("collective (traffic)"));
  CHECK_THROWS_WITH(
      describe_text(catalog, "fat_tree", "device"),
      Catch::StartsWith("'fat_tree' is not a device") && Catch::Contains("known: a100, a100_40gb"));
  CHECK_THROWS_WITH(describe_text(catalog, "h100", "gadget"),
                    Catch::StartsWith("'gadget' is not a kind of module"));
}

TEST_CASE("list and describe: what a module needs of queues, and what a queue offers") {
  Catalog catalog = small();
  catalog.registries.congestion = {
      {.info = {"ears", "Listens.", "", {}},
       .needs = {.required = Capability::kMark | Capability::kTelemetry, .forbidden = Capability::kTrim}}};
  catalog.registries.queues = {
      {.info = {"cuts", "Cuts.", "", {{"cut", ParameterType::kBoolean, "false", "Cut."}}},
       .offers = {.always = Capability::kMark, .switches = {{Capability::kTrim, "cut", "true", "false"}}}}};
  CHECK(list_text(catalog, "congestion", false) ==
        "congestion\n  ears  Listens. (requires mark, telemetry; not with trim)\n");
  CHECK(list_text(catalog, "queue", false) == "queue\n  cuts  Cuts. (offers mark, trim)\n");
  CHECK(describe_text(catalog, "ears") ==
        "ears (congestion)\n"
        "  Listens.\n"
        "\n"
        "  --congestion ears\n"
        "  congestion { ears { } }\n"
        "\n"
        "  Requires of queues: mark, telemetry.\n"
        "  Can't live with queues that offer: trim.\n");
  CHECK_THAT(describe_text(catalog, "cuts"),
             Catch::Contains("\n\n  Offers: mark, trim; trim takes cut=true.\n\n  parameter"));
  // What is built in.
  const Catalog built_in = builtin_catalog();
  CHECK_THAT(describe_text(built_in, "dctcp"), Catch::Contains("Requires of queues: mark.\n"));
  CHECK_THAT(describe_text(built_in, "uno"), Catch::Contains("Queue, if none is given: phantom.\n"));
  CHECK_THAT(describe_text(built_in, "reps"), Catch::Contains("Uses where queues offer it: mark.\n"));
  CHECK_THAT(describe_text(built_in, "pfc"), Catch::Contains("credit takes classes=2"));
}

TEST_CASE("describe: every built-in module, with each parameter, a sentence and a source") {
  const Catalog catalog = builtin_catalog();
  const sim::Registries& registries = catalog.registries;
  std::set<std::string> names;
  for (const std::string& line : lines(list_text(catalog, "", true))) {
    names.insert(line.substr(line.find(' ') + 1));
  }
  std::vector<sim::Seam> seams(sim::seams().begin(), sim::seams().end());
  seams.push_back(sim::traffic_seam());
  for (const sim::Seam& seam : seams) {
    CHECK_FALSE(seam.modules(registries).empty());
    for (const ModuleInfo* module : seam.modules(registries)) {
      INFO(seam.field << " " << module->name);
      CHECK(names.count(module->name) == 1);
      CHECK_FALSE(module->summary.empty());
      CHECK_FALSE(module->source.empty());
      const std::string text = describe_text(catalog, module->name);
      for (const ParameterSpec& spec : module->parameters) {
        CHECK(text.find("\n  " + spec.name + " ") != std::string::npos);
        CHECK(text.find(spec.help) != std::string::npos);
        CHECK_THAT(spec.help, Catch::Matches("[A-Z].*\\."));  // a sentence
      }
    }
  }
}

TEST_CASE("list and describe: protocols") {
  const Catalog catalog = builtin_catalog();
  CHECK(lines(list_text(catalog, "protocol", true)) ==
        std::vector<std::string>{"protocol ideal", "protocol openmpi_tcp", "protocol openmpi_ucx",
                                 "protocol mpich_ofi"});
  for (const ModuleInfo& protocol : catalog.registries.protocols) {
    const std::string text = describe_text(catalog, protocol.name);
    CHECK_THAT(text, Catch::Contains("--protocol " + protocol.name));
    CHECK_THAT(text, Catch::Contains("Source: " + protocol.source));
    CHECK_NOTHROW(Parameters(protocol, std::map<std::string, std::string>{}));
  }
}

TEST_CASE("built-in modules: every default is one that its own type accepts") {
  const sim::Registries registries = sim::builtin_registries();
  for (const sim::Seam& seam : sim::seams()) {
    for (const ModuleInfo* module : seam.modules(registries)) {
      std::map<std::string, std::string> given;
      for (const ParameterSpec& spec : module->parameters) {
        if (spec.default_value.empty() && spec.type == ParameterType::kInteger) given[spec.name] = "4";
      }
      INFO(seam.field << " " << module->name);
      CHECK_NOTHROW(Parameters(*module, given));
    }
  }
}

TEST_CASE("built-in queues: what decides on an offer is a parameter that takes both values") {
  int switches = 0;
  for (const sim::RegisteredQueue& queue : sim::builtin_registries().queues) {
    for (const CapabilitySwitch& each : queue.offers.switches) {
      INFO(queue.info.name << " " << each.parameter);
      CHECK(each.on != each.off);
      for (const std::string& value : {each.on, each.off}) {
        CHECK_NOTHROW(Parameters(queue.info, {{each.parameter, value}}));
      }
      CHECK_FALSE(queue.offers.always.has(each.capability));
      ++switches;
    }
  }
  CHECK(switches > 0);
}

TEST_CASE("list and describe: importers and sinks") {
  const goal::Importer importers[] = {{.info = {"boxes",
                                                "Boxes.",
                                                "Someone, 2001",
                                                {{"deep", ParameterType::kBoolean, "false", "All of it."}}},
                                       .looks_like = "a file that begins with BOX",
                                       .span = "",
                                       .sniff = nullptr,
                                       .import = nullptr}};
  const sim::Sink sinks[] = {{.info = {"rows", "Rows.", "", {}},
                              .when = "in every run",
                              .files = {{"rows.csv", "a,b"}, {"x.bin", ""}}}};
  const Catalog catalog{.registries = {}, .importers = importers, .sinks = sinks};
  CHECK(list_text(catalog, "importers", false) == "importer\n  boxes  Boxes.\n");
  CHECK(list_text(catalog, "", true) == "importer boxes\nsink rows\n");
  CHECK(describe_text(catalog, "boxes") ==
        "boxes (importer)\n"
        "  Boxes.\n"
        "  Source: Someone, 2001\n"
        "\n"
        "  weft import boxes PATH -o NAME.weft\n"
        "\n"
        "  Reads a file that begins with BOX.\n"
        "\n"
        "  parameter  type       default   meaning\n"
        "  deep       boolean    false     All of it.\n");
  CHECK(describe_text(catalog, "rows") ==
        "rows (sink)\n"
        "  Rows.\n"
        "\n"
        "  Acts in every run.\n"
        "  Leaves rows.csv: a,b\n"
        "  Leaves x.bin\n");
}

TEST_CASE("list and describe: placements, with what they need") {
  const Catalog catalog = builtin_catalog();
  CHECK(lines(list_text(catalog, "placements", true)).front() == "placement packed");
  for (const placement::Policy& policy : catalog.placements) {
    const std::string text = describe_text(catalog, policy.info.name);
    INFO(text);
    CHECK_THAT(policy.info.summary, Catch::Matches("[A-Z].*\\."));
    CHECK(text.find("--placement " + policy.info.name) != std::string::npos);
    if (!policy.needs.empty()) CHECK(text.find("Needs: " + policy.needs + ".") != std::string::npos);
    for (const ParameterSpec& spec : policy.info.parameters) CHECK_THAT(spec.help, Catch::Matches(".*\\."));
  }
}

TEST_CASE("list and describe: fabrics, with their settings and what to doubt") {
  const Catalog catalog = builtin_catalog();
  CHECK(lines(list_text(catalog, "fabrics", true)).front() == "fabric uet");
  for (const fabrics::Fabric& fabric : catalog.registries.fabrics) {
    const std::string text = describe_text(catalog, fabric.info.name);
    INFO(text);
    CHECK_THAT(fabric.info.summary, Catch::Matches("[A-Z].*\\."));
    CHECK(text.find("--fabric " + fabric.info.name) != std::string::npos);
    CHECK(!fabric.info.source.empty());
    CHECK(!fabric.doubts.empty());
    for (const std::string& doubt : fabric.doubts) {
      CHECK_THAT(doubt, Catch::Matches(".*\\."));
      CHECK(text.find(doubt) != std::string::npos);
    }
    for (const std::string& setting : {fabric.congestion, fabric.recovery, fabric.queue, fabric.network}) {
      CHECK(text.find(setting) != std::string::npos);
    }
  }
}

TEST_CASE("describe: every importer and sink that is built in, with what it reads or leaves") {
  const Catalog catalog = builtin_catalog();
  CHECK(catalog.importers.size() >= 1);
  for (const goal::Importer& importer : catalog.importers) {
    const std::string text = describe_text(catalog, importer.info.name);
    INFO(text);
    CHECK_THAT(importer.info.summary, Catch::Matches("[A-Z].*\\."));
    CHECK(text.find(importer.looks_like) != std::string::npos);
    for (const ParameterSpec& spec : importer.info.parameters) {
      CHECK_THAT(spec.help, Catch::Matches("[A-Z].*\\."));
      // On the command line a boolean is a flag that can only be given.
      if (spec.type == ParameterType::kBoolean) CHECK(spec.default_value == "false");
    }
    CHECK_NOTHROW(Parameters(importer.info, std::map<std::string, std::string>()));
  }
  std::set<std::string> files;
  for (const sim::Sink& sink : catalog.sinks) {
    const std::string text = describe_text(catalog, sink.info.name);
    INFO(text);
    CHECK_THAT(sink.info.summary, Catch::Matches("[A-Z].*\\."));
    CHECK(text.find("Acts " + sink.when) != std::string::npos);
    for (const sim::SinkFile& file : sink.files) CHECK(files.insert(file.name).second);
  }
}

}  // namespace weft::cli
