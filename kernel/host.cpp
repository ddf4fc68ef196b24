#include "kernel/host.hpp"

#include <cstdlib>
#include <stdexcept>

#include <pybind11/embed.h>

namespace xpto {

namespace fs = std::filesystem;

namespace {

Layout find_layout() {
    Layout found;
    found.executable = fs::read_symlink("/proc/self/exe");
    const fs::path prefix = found.executable.parent_path().parent_path();
    found.share = prefix / "share";
    const fs::path built = prefix / "python";
    found.python_package = fs::exists(built / "xpto") ? built : prefix / "share/xpto/python";
    return found;
}

/// The Python whose library and site packages are used: $XPTO_PYTHON, the one beside us (an environment), the one built
/// against.
std::string python_program() {
    if (const char* chosen = std::getenv("XPTO_PYTHON"); chosen && *chosen) return chosen;
    const fs::path beside = layout().executable.parent_path() / "python3";
    return fs::exists(beside) ? beside.string() : XPTO_PYTHON_EXECUTABLE;
}

void require(const PyStatus& status) {
    if (PyStatus_Exception(status)) throw std::runtime_error(status.err_msg ? status.err_msg : "Python did not start");
}

/// A configuration that knows which Python it is; freed on every path.
struct Configuration {
    PyConfig value;
    Configuration() {
        PyConfig_InitPythonConfig(&value);
        value.parse_argv = 0;
        const std::string program = python_program();
        require(PyConfig_SetBytesString(&value, &value.program_name, program.c_str()));
        require(PyConfig_SetBytesString(&value, &value.executable, program.c_str()));
    }
    ~Configuration() { PyConfig_Clear(&value); }
    Configuration(const Configuration&) = delete;
    Configuration& operator=(const Configuration&) = delete;

    void set_arguments(const std::vector<std::string>& arguments) {
        std::vector<char*> pointers;
        for (const std::string& a : arguments) pointers.push_back(const_cast<char*>(a.c_str()));
        require(PyConfig_SetBytesArgv(&value, Py_ssize_t(pointers.size()), pointers.data()));
    }
};

} // namespace

const Layout& layout() {
    static const Layout found = find_layout();
    return found;
}

void start_python_for_kernel() {
    Configuration configuration;
    configuration.value.install_signal_handlers = 0;
    configuration.set_arguments({layout().executable.string()});
    require(Py_InitializeFromConfig(&configuration.value));
    pybind11::module_::import("sys").attr("path").attr("insert")(0, layout().python_package.string());
}

int run_command_line(const std::vector<std::string>& arguments) {
    {
        Configuration configuration;
        std::vector<std::string> all{"xpto"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        configuration.set_arguments(all);
        // sys.path[0] is the current folder for a command given as text; scripts of `xpto run` must not see it
        require(PyConfig_SetString(&configuration.value, &configuration.value.run_command,
                                   L"import sys, _xpto_package\n"
                                   L"sys.path[0] = _xpto_package.folder\n"
                                   L"del sys.modules['_xpto_package']\n"
                                   L"from xpto.cli import main\n"
                                   L"sys.exit(main(sys.argv[1:]))\n"));
        require(Py_InitializeFromConfig(&configuration.value));
    }
    return Py_RunMain();
}

} // namespace xpto

PYBIND11_EMBEDDED_MODULE(_xpto_package, m) { m.attr("folder") = xpto::layout().python_package.string(); }
