namespace pto {

/// The engine's version, part of every compile key.
extern const char* const engine_version;
const char* const engine_version = XPTO_VERSION;

} // namespace pto
