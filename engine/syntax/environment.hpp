#pragma once
/// What names outside the kernel mean. The engine asks; pyfront answers from live Python objects (notebook, script) or from
/// a static reading of a file (command line). Nothing here knows Python.

#include "engine/isa/dtype.hpp"
#include "engine/isa/enums.hpp"
#include "engine/syntax/tree.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pto::syntax {

PTO_ID(ScopeId); // a place where names are looked up: one per function that was read

struct Constant;
using ConstantList = std::vector<Constant>;

/// A Python function that can be read: helper, stage, vector function, kernel.
struct FunctionRef {
    std::shared_ptr<const Function> function; // null when its source could not be read
    ScopeId scope;                            // where its free names are looked up
    std::string name, missing;                // why the source is missing
    enum class Kind : std::uint8_t { plain, stage, vector, simt, kernel } kind = Kind::plain;
    std::int64_t max_threads = 0;             // simt
};

/// A name of the language itself, spelled in full: "pl.load", "pl.system.sync_src", "pl.TileType", "vf".
struct LanguageName { std::string path; bool operator==(const LanguageName&) const = default; };

/// A field of a tiling dataclass.
struct TilingField { std::string name; isa::DType dtype = isa::DType::index; std::int64_t length = 0; /* 0 = scalar */ };
struct TilingClass { std::string name; std::vector<TilingField> fields; std::string error; };

struct KeyField { std::string name; int bits = 0; std::vector<std::int64_t> values; };
struct TilingKeyClass { std::string name; std::vector<KeyField> fields; bool has_is_valid = false; };

struct NoneValue { bool operator==(const NoneValue&) const = default; };
/// pl.TileType(...) called while the file was imported: its arguments by keyword.
struct LanguageCall { std::string path; std::map<std::string, Constant> keywords; };
/// An object the language has no use for; `type` is its Python type's name.
struct Opaque { std::string type; };

struct Constant {
    std::variant<NoneValue, bool, std::int64_t, double, std::string, isa::DType, isa::EnumValue, LanguageName, FunctionRef, TilingClass,
                 TilingKeyClass, ConstantList, Opaque, std::shared_ptr<const LanguageCall>>
        value;
    bool is_tuple = false; // for ConstantList: tuple rather than list
    Span defined_at;       // where the binding was made, when known
};

class Environment {
  public:
    virtual ~Environment() = default;
    /// The value bound to a name as seen from a function's scope; nothing when the name is unbound there.
    virtual std::optional<Constant> look_up(ScopeId scope, const std::string& name) = 0;
    /// Member of something look_up gave (module.attribute, tuple element by name); nothing when absent.
    virtual std::optional<Constant> member(ScopeId scope, const std::string& dotted) = 0;
    /// Evaluates Python text with extra names bound, for compile-time expressions the language cannot fold itself. `error`
    /// receives Python's message when there is no value.
    virtual std::optional<Constant> evaluate(ScopeId scope, const std::string& text, const std::map<std::string, Constant>& names,
                                             std::string& error) = 0;
};

/// Decorator options of a kernel, as found (pl.jit keywords), before any override.
struct KernelOptions {
    std::string name;                  // the kernel's name
    std::string arch;                  // "" when not given
    bool auto_mutex = true;
    bool has_pipeline = false;
    std::vector<std::int64_t> preload; // one value: for every loop; several: one a loop
    bool preload_is_sequence = false;
    bool sync_only = false;
    std::optional<TilingKeyClass> tiling_key;
    std::map<std::string, std::string> datatype; // parameter -> dtype variable
    Span pipeline_at;                  // the pipeline= argument
};

/// A kernel as the front end hands it to the engine.
struct KernelSource {
    std::shared_ptr<const Function> function;
    ScopeId scope;
    KernelOptions options;
};

} // namespace pto::syntax
