// Compiled anew whenever a stamped program is linked; the macro comes from tools/bazel/commit, through Bazel,
// which has "0" where that tells none.
#ifndef BUILD_SCM_REVISION
#define BUILD_SCM_REVISION "0"
#endif
extern const char kWeftCommit[];
const char kWeftCommit[] = BUILD_SCM_REVISION;
