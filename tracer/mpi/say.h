// Words to the user from inside of somebody else's program.
#pragma once

namespace weft::trace {

// Writes to standard error, if that is still what it was when the process began: a program that has closed it
// may have a data file of its own there. `errno` stays.
__attribute__((format(printf, 1, 2))) void say(const char* format, ...);

// Writes a text, without asking the preloaded library.
void say_itself(const char* text);

// What the preloaded library gives the others, which are loaded later, under this name: say() of a whole
// text.
inline constexpr char kSayName[] = "weft_trace_say";
using Say = void(const char* text);

}  // namespace weft::trace
