#pragma once
/// Private to emit: what one core's function needs declared, found in one walk before anything is written.

#include "engine/ir/kernel.hpp"

#include <set>
#include <string>
#include <vector>

namespace pto::emit {

struct Facts {
    enum class Home : std::int8_t { function, loop, vector }; // where a variable is declared
    struct Var {
        bool used = false;
        Home home = Home::function;
        std::int32_t call = -1; // which vector call, in order; home vector only
    };
    struct Tile {
        bool used = false;      // an operation, an expression or another tile needs the handle
        bool own = false;       // it is bound to views, which are objects of their own
        bool dynamic = false;   // its valid shape is no part of its type
        bool address = false;   // something is placed relative to it
        bool mutex = false;     // a lock names it, or a tile that copies its ids
        bool written = false;   // it is bound at least once
        ir::TileDeclId direct;  // valid: it is never anything but the one slot of this declaration
    };
    struct Decl {
        bool used = false, dynamic = false, addresses = false;
    };
    struct Tensor {
        bool used = false;      // its pointer
        bool object = false;    // its GlobalTensor
        bool restrided = false; // set_stride changes how windows walk
    };
    std::vector<Var> vars;
    std::vector<Tile> tiles;
    std::vector<Decl> decls;
    std::vector<Tensor> tensors;
    std::vector<bool> shared;   // per struct: exchanged through the SSBUF
    std::size_t vector_calls = 0;

    /// The operation works lane by lane on column-major tiles only. The card's vector unit wants rows: it sees each tile as its transpose,
    /// which is the same bytes in row-major order.
    static bool by_columns(const ir::Function& f, const ir::Op& op);
    /// Locks that tile `t` takes for its k-th mutex id; the id itself when every slot has the same one.
    static std::size_t ids_per_slot(const ir::Function& f, ir::TileVarId t);
};

/// cost  linear in the program, a few passes over its tile bindings
Facts facts_of(const ir::Function& f);

} // namespace pto::emit
