#pragma once
/// One operation about to run: its operands, attributes and the memories it may touch. Meanings (one family a file)
/// work on this.

#include "engine/execute/access.hpp"
#include "engine/execute/findings.hpp"
#include "engine/execute/instruction.hpp"
#include "engine/execute/memory.hpp"
#include "engine/execute/numerics/matmul.hpp"
#include "engine/execute/numerics/tile_copy.hpp"
#include "engine/program/instance.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pto::execute {

namespace num = pto::numerics;
using isa::DType;
using program::OperandInstance;
using program::OpInstance;
using program::Scalar;
using program::TensorValue;
using program::TileValue;

/// Stops the launch; caught at the door.
struct Stop {
    Status status = Status::refused;
    std::string message;
    Span at;
};

/// The cores of one block as the data sees them. A core is named by its place: AIC first when there is one, then the
/// AIVs.
struct Machine {
    std::array<CoreMemory*, cores_per_block> memory{};
    std::array<isa::Core, cores_per_block> kind{};
    int cores = 0;
    std::array<std::uint32_t, 1024> shared_words{}; // SSBUF
    std::array<bool, 1024> shared_known{};
    int cube() const { return cores > 0 && kind[0] == isa::Core::cube ? 0 : -1; }
    int vector(int subblock) const {
        return cube() == 0 ? (subblock + 1 < cores ? subblock + 1 : -1) : (subblock < cores ? subblock : -1);
    }
    int subblock(int place) const { return cube() == 0 ? place - 1 : place; }
};

/// Special registers of a core.
struct CoreRegisters {
    std::int64_t spr = 0;                            // AR: bytes of the last squeeze
    std::array<std::uint64_t, 2> mask{~0ull, ~0ull}; // legacy vector mask, {low, high}
    bool count_mode = false;
};

namespace registers {
struct Frame;
struct FrameDeleter {
    void operator()(Frame* f) const;
};
} // namespace registers

/// Buffers that grow to the largest operation of a launch and stay.
struct Scratch {
    num::MatmulScratch matmul;
    std::vector<std::byte> bytes[4];
    std::vector<float> floats[4];
    std::vector<std::int64_t> integers[2];
    std::unique_ptr<registers::Frame, registers::FrameDeleter> frame; // vector calls
    std::byte* room(int i, std::int64_t n) {
        if (std::int64_t(bytes[i].size()) < n) bytes[i].resize(std::size_t(n));
        return bytes[i].data();
    }
    float* reals(int i, std::int64_t n) {
        if (std::int64_t(floats[i].size()) < n) floats[i].resize(std::size_t(n));
        return floats[i].data();
    }
    std::int64_t* words(int i, std::int64_t n) {
        if (std::int64_t(integers[i].size()) < n) integers[i].resize(std::size_t(n));
        return integers[i].data();
    }
};

/// A tile's bytes in one memory. Offsets of `map` count from `data`.
struct TileView {
    const TileValue* value = nullptr;
    Memory* memory = nullptr;
    int core = 0; // place whose memory it is
    std::byte* data = nullptr;
    std::byte* known = nullptr; // null where there is no shadow
    num::TileMap map;
    std::int64_t rows = 0, cols = 0; // valid
    DType dtype = DType::fp32;
    MemorySpace space() const { return value->type->memory; }
    num::Footprint footprint() const { return num::footprint(map, value->address, 0, 0, rows, cols); }
    num::Footprint footprint(std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs) const {
        return num::footprint(map, value->address, r, c, rs, cs);
    }
};

struct Launch;

struct Call {
    Machine& machine;
    GlobalMemory& gm;
    Scratch& scratch;
    const Instruction& site;
    const OpInstance& op;
    int core = 0;                 // place of the issuing core
    Row* row = nullptr;           // work numbers of the record; null when not recorded
    Findings* findings = nullptr; // null when hazards are off
    LoggedAccess self;            // who this is, for findings
    Statistics& statistics;
    CoreRegisters& registers;
    std::string* print = nullptr;      // text this operation prints
    const SourceMap* source = nullptr; // for printed places; may be null
    Scalar result;                     // getval
    std::int32_t block_num = 1;
    AccessList late_accesses; // vector calls: what they touched, known afterwards
    CallWork call_work;       // vector calls: register operations, for the record
    Launch* launch = nullptr; // for long work: asks the sink now and then
    void work(std::int64_t units) const;
    std::vector<std::uint32_t> words; // ssbuf_load

    // ---- operands
    const OperandInstance& operand(int i) const { return op.operands[std::size_t(i)]; }
    bool has(int i) const { return i < int(op.operands.size()) && operand(i).kind != OperandInstance::Kind::none; }
    bool is_tile(int i) const { return has(i) && operand(i).kind == OperandInstance::Kind::tile; }
    bool is_tensor(int i) const { return has(i) && operand(i).kind == OperandInstance::Kind::tensor; }
    const TileValue& tile(int i) const { return operand(i).tile; }
    const TensorValue& tensor(int i) const { return operand(i).tensor; }
    std::int64_t integer(int i, std::int64_t fallback = 0) const {
        return has(i) ? operand(i).scalar.integer : fallback;
    }
    std::string operand_name(int i) const;
    Span operand_span(int i) const;

    // ---- attributes
    /// Run-time value of a keyword, or null when it is constant or absent.
    const OperandInstance* runtime(Key k) const;
    const ir::AttributeValue* constant(Key k) const;
    bool given(Key k) const;
    int choice(Key k, int fallback) const; // ordinal of an enumeration
    std::int64_t number(Key k, std::int64_t fallback) const;
    double real(Key k, double fallback) const;
    DType type(Key k, DType fallback) const;

    // ---- memory
    TileView view(const TileValue& t) const { return view(t, home(t)); }
    TileView view(const TileValue& t, int place) const;
    TileView view(int i) const { return view(tile(i)); }
    /// The place whose memory a tile of this core lies in.
    int home(const TileValue& t) const;

    // ---- findings
    /// Reports bytes of the region that nobody wrote; `use` says what was about to happen ("arithmetic", "store").
    void require_known(const TileView& v, const num::Footprint& absolute, int operand, std::string_view use) const;
    void require_known(const TileView& v, int operand, std::string_view use) const;
    /// Marks bytes as written.
    static void mark_known(const TileView& v, const num::Footprint& absolute);
    void warn(HazardKind kind, int operand, std::string message, std::string repair = {}) const;
    [[noreturn]] void refuse(std::string message, int operand = -1) const;
};

/// Fills the work numbers of a vector operation on tiles: the region worked on, widest operand, UB addresses.
void note_work(Call& c, const TileView& region);

/// The layout of a tile in its memory.
num::TileMap map_of(const isa::TileType& type, std::array<std::int32_t, 2> valid);

/// What a semantics means: which bytes it touches, and what it does to them. run() may assume the bytes exist.
struct Meaning {
    void (*access)(const Call&, AccessList&) = nullptr;
    void (*run)(Call&) = nullptr;
};
/// Null pointers for semantics that the scheduler handles itself (synchronisation, descriptors).
const Meaning& meaning_of(isa::Semantics s);

// ---- helpers shared by the families
/// Reads every tile with a reading role and writes every tile with a writing role, over their valid regions.
void access_by_roles(const Call& c, AccessList& list);
void add_tile(const Call& c, AccessList& list, int operand, bool write);
void add_tile(AccessList& list, const TileView& v, int operand, bool write, const num::Footprint& bytes);
/// Warns when bytes that were reached through a tile lie outside its declaration and inside another one's: an index or an offset that
/// runs past a scratch tile is told by its address, whatever the numbers are. Tiles that are declared on top of each other on purpose
/// are left alone. `always`: also where no other tile lies.
void warn_beyond_tile(const Call& c, int operand, const num::Footprint& bytes, bool write, Span at, bool always = false);

} // namespace pto::execute
