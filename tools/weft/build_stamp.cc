// Compiled anew whenever a stamped program is linked; Bazel defines the label (--embed_label).
extern const char kWeftBuildLabel[];
const char kWeftBuildLabel[] = BUILD_EMBED_LABEL;
