#pragma once
/// Private to emit: the files around kernel.cpp.

#include "engine/emit/emit.hpp"

namespace pto::emit {

std::string join(const std::vector<LaunchParameter>& list, bool types);
std::string tiling_header(const ir::Param& p);
std::string launcher(const Emitted& e);
std::string launch_arguments(const ir::Kernel& k, const Emitted& e);
/// The compiler call that makes call_kernel.so, arguments in the order of codegen 4.2.
std::vector<std::string> device_command(const ir::Kernel& k, const machine::Chip& chip, bool prints);
/// "dav-c310" for both cores, "dav-c310-cube", "dav-c310-vec"; c220 on older chips.
std::string device_arch(const ir::Kernel& k, const machine::Chip& chip);

} // namespace pto::emit
