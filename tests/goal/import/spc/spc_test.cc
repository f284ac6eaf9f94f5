// SPC block traces: what lines say, and what becomes of them.
#include <catch2/catch.hpp>
#include <string>

#include "goal/import/spc/storage_graph.h"
#include "goal/import/spc/trace.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

std::string refused(const std::string& text) {
  try {
    parse_spc(text, "x");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Graph made(const std::string& text, const StorageSystem& system) {
  return storage_graph(parse_spc(text, "x").ios, system).graph;
}

}  // namespace

TEST_CASE("spc: lines of the traces of UMass") {
  const SpcTrace trace = parse_spc(
      "0,20941264,8192,W,0.551706\n\n1,3436288, 15872,r,1.250720,7,x\r\n2,0,0,R,2\n0,5,512,w,1.1234567899",
      "x");
  REQUIRE(trace.ios.size() == 3);
  CHECK(trace.ios[0].unit == 0);
  CHECK(trace.ios[0].address == 20941264);
  CHECK(trace.ios[0].bytes == 8192);
  CHECK(trace.ios[0].write);
  CHECK(trace.ios[0].start_ns == 551'706'000);
  // Sorted by time, to whole nanoseconds.
  CHECK(trace.ios[1].start_ns == 1'123'456'789);
  CHECK(trace.ios[1].write);
  CHECK_FALSE(trace.ios[2].write);
  CHECK(trace.empty == 1);
  CHECK(trace.early == 1);
  CHECK(trace.with_optional == 1);
}

TEST_CASE("spc: errors say line, column, what was found and what was expected") {
  const std::string form = " (a line is ASU,LBA,Size,Opcode,Timestamp)";
  CHECK(refused("0,1,512,R,0\n\nzero,1,512,R,0") ==
        "x:3:1: found 'zero,1,512,R,0'; expected the storage unit (ASU), a whole number of 32 bits" + form);
  CHECK(refused("4294967296,1,512,R,0") ==
        "x:1:1: found '4294967296,1,512,R,0'; expected the storage unit (ASU), a whole number of 32 bits" +
            form);
  CHECK(refused("0;1,512,R,0") == "x:1:2: found ';1,512,R,0'; expected a comma" + form);
  CHECK(refused("0,-1,512,R,0") ==
        "x:1:3: found '-1,512,R,0'; expected the address (LBA), at most 2^43" + form);
  CHECK(refused("0,1,1073741825,R,0") ==
        "x:1:5: found '1073741825,R,0'; expected the size in bytes, at most 2^30" + form);
  CHECK(refused("0,1,512,Z,0") == "x:1:9: found 'Z,0'; expected the opcode, R or W" + form);
  CHECK(refused("0,1,512,R") == "x:1:10: found the end of the line; expected a comma" + form);
  CHECK(refused("0,1,512,R,") ==
        "x:1:11: found the end of the line; expected the time in seconds, a decimal number" + form);
  CHECK(refused("0,1,512,R,1.5s") == "x:1:14: found 's'; expected a comma or the end of the line" + form);
}

TEST_CASE("spc: a read and a write across two stripes") {
  StorageSystem system;
  system.servers = 2;
  system.stripe = 4096;
  system.access = Time::ns(100);
  // Unit 5 is the second: its first stripe lies on the second server. The write has 512 bytes on the first
  // stripe of unit 1 and 1024 on the next.
  const Graph graph = made("5,0,600,R,0\n1,7,1536,W,0.000001\n", system);
  INFO(to_text(graph));
  CHECK(graph == parse_text(R"(num_ranks 4
rank 0 {
c: calc 1000 cpu 1
a: send 576b to 2
a requires c
b: recv 16b from 2
b irequires a
d: send 1088b to 3 tag 1
d requires c
e: recv 16b from 3 tag 1
e irequires d
}
rank 1 {
a: send 64b to 3
b: recv 616b from 3
b irequires a
}
rank 2 {
a: recv 576b from 0
b: calc 442 cpu 1
b requires a
c: send 16b to 0
c requires b
}
rank 3 {
a: recv 64b from 1
b: calc 200 cpu 1
b requires a
c: send 616b to 1
c requires b
d: recv 1088b from 0 tag 1
e: calc 783 cpu 1
e requires d
f: send 16b to 0 tag 1
f requires e
}
)",
                            "expected"));
}

TEST_CASE("spc: in closed loop an I/O waits for all of the one before") {
  StorageSystem system;
  system.servers = 1;
  system.stripe = 512;
  system.closed_loop = true;
  const Graph graph = storage_graph(parse_spc("0,0,1024,R,0\n0,0,512,R,9\n", "x").ios, system).graph;
  const std::string text = to_text(graph);
  // Two receives, joined; what comes next waits for the join.
  CHECK(text.find("l5: calc 0 cpu 1\nl5 requires l2\nl5 requires l4\n") != std::string::npos);
  CHECK(text.find("l6 requires l5\n") != std::string::npos);
  CHECK(text.find("calc 9") == std::string::npos);
}

TEST_CASE("spc: no trace at all") {
  CHECK(storage_graph({}, {}).graph.ranks() == 9);
  CHECK(parse_spc("", "x").ios.empty());
}

TEST_CASE("spc: more requests than fit are refused before they are made") {
  StorageSystem system;
  system.stripe = 1;
  const SpcTrace trace =
      parse_spc("0,0,1073741824,R,0\n0,0,1073741824,R,0\n0,0,1073741824,R,0\n0,0,1073741824,R,0\n", "x");
  CHECK_THROWS_AS(storage_graph(trace.ios, system), InputError);
}

}  // namespace weft::goal
