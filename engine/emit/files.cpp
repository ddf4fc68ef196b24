/// Launcher, tiling header, compiler call. Source: codegen 1.9, 4.2, 5.1.
#include "engine/emit/files.hpp"
#include "engine/emit/writer.hpp"

namespace pto::emit {

std::string join(const std::vector<LaunchParameter>& list, bool types) {
    std::string out;
    for (const LaunchParameter& p : list) out += (out.empty() ? "" : ", ") + (types ? p.type + " " + p.name : p.name);
    return out;
}

std::string tiling_header(const ir::Param& p) {
    return "#pragma once\n// Filled by the host, read by the kernel: C layout, natural alignment, declaration order.\n#include <cstdint>\n\n" +
           struct_class(p.class_name, p.fields, false);
}

std::string launcher(const Emitted& e) {
    std::string host, arguments, before, includes;
    for (const LaunchParameter& p : e.parameters) {
        const bool pointer = p.type.back() == '*';
        std::string device = p.type;
        if (device.rfind("__gm__ ", 0) == 0) device.erase(0, 7);
        if (p.kind == "ffts") { // the runtime knows this address, the caller does not
            includes = "#include \"runtime/rt_ffts.h\"\n";
            before = "    uint64_t ffts = 0;\n    uint32_t ffts_length = 0;\n    rtGetC2cCtrlAddr(&ffts, &ffts_length);\n";
            arguments += (arguments.empty() ? "" : ", ") + ("(" + device + ")ffts");
            continue;
        }
        host += ", " + (pointer ? "uint8_t*" : p.type) + " " + p.name;
        arguments += (arguments.empty() ? "" : ", ") + (pointer ? "(" + device + ")" : std::string()) + p.name;
    }
    return includes + "#include \"kernel.cpp\"\n\n__global__ AICORE void " + e.symbol + "(" + join(e.parameters, true) + ") {\n    " + e.symbol + "_impl(" + join(e.parameters, false) +
           ");\n}\n\nextern \"C\" void call_kernel(uint32_t blockDim, void* stream" + host + ") {\n" + before + "    " + e.symbol + "<<<blockDim, nullptr, stream>>>(" + arguments + ");\n}\n";
}

std::string launch_arguments(const ir::Kernel& k, const Emitted& e) {
    std::string out = "{\n \"schema\": 1,\n \"kernel_name\": \"" + e.symbol + "\",\n \"library_entry\": \"call_kernel\",\n \"kernel_type\": \"" +
                      (k.is_mix() ? "mix" : k.cube ? "cube" : "vector") + "\",\n \"prints\": " + (e.prints ? "true" : "false") + ",\n \"abi\": [";
    bool first = true;
    for (const LaunchParameter& p : e.parameters) {
        if (p.kind == "ffts") continue;
        const bool pointer = p.type.back() == '*';
        std::string element = p.type;
        if (element.rfind("__gm__ ", 0) == 0) element.erase(0, 7);
        if (pointer) element.pop_back();
        out += std::string(first ? "" : ",") + "\n  {\"name\": \"" + p.name + "\", \"kind\": \"" + (pointer ? "ptr" : "scalar") + "\", \"dtype\": \"" + element + "\", \"role\": \"" + p.kind +
               "\", \"parameter\": \"" + quoted(p.source) + "\"" + (p.axis >= 0 ? ", \"axis\": " + std::to_string(p.axis) : "") + "}";
        first = false;
    }
    return out + "\n ]\n}\n";
}

std::string device_arch(const ir::Kernel& k, const machine::Chip& chip) {
    return std::string(chip.arch == "a5" ? "dav-c310" : "dav-c220") + (k.is_mix() ? "" : k.cube ? "-cube" : "-vec");
}

std::vector<std::string> device_command(const ir::Kernel& k, const machine::Chip& chip, bool prints) {
    const bool a5 = chip.arch == "a5";
    std::vector<std::string> c{"bisheng", "--cce-aicore-arch=" + device_arch(k, chip)};
    auto add = [&](std::initializer_list<const char*> list) { c.insert(c.end(), list.begin(), list.end()); };
    if (k.is_mix()) add({"--cce-fatobj-link"});
    add({"-fPIC", "-shared", "-xcce", a5 ? "-DREGISTER_BASE" : "-DMEMORY_BASE", "-O3", "-std=c++17", "-I$ASCEND_TOOLKIT_HOME/include"});
    if (prints) add({"--cce-enable-print", "-D_DEBUG", "-DCCEBlockMaxSize=1048576", "-DPTOAS_ENABLE_CCE_PRINT=1"});
    for (const char* d : {"include", "pkg_inc", "pkg_inc/runtime", "pkg_inc/profiling", "include/experiment/runtime", "include/experiment/msprof", "pkg_inc/runtime/runtime"})
        c.push_back(std::string("-I$ASCEND_HOME_PATH/") + d);
    add({"-mllvm", "-cce-aicore-stack-size=0x8000", "-mllvm", "-cce-aicore-function-stack-size=0x8000", "-mllvm", "-cce-aicore-record-overflow=false", "-mllvm",
         "-cce-aicore-addr-transform", "-mllvm", "-cce-aicore-dcci-insert-for-scalar=false", "--cce-auto-sync=off"});
    if (a5) add({"-mllvm", "-tile-fusion-skip-reduceop-fusion=true", "-mllvm", "-tile-fusion-skip-legality-check=false"});
    add({"--cce-disable-kernel-global-attr-check"});
    if (a5) add({"--enable-pto-tile-fusion"});
    add({"-Wno-parentheses-equality", "-Wno-unused-command-line-argument", "-Werror"});
    if (a5) add({"-Wno-c++20-extensions"});
    add({"-Wno-cce-compat", "call_kernel.cpp", "-L$ASCEND_HOME_PATH/lib64/", "-lruntime", "-lprofapi", "-o", "call_kernel.so"});
    return c;
}

} // namespace pto::emit
