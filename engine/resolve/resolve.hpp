#pragma once
/// Door of resolve: the user's tree and the names around it become operator-kernel IR.

#include "engine/base/diagnostics.hpp"
#include "engine/base/source_map.hpp"
#include "engine/ir/kernel.hpp"
#include "engine/ir/pipeline_facts.hpp"
#include "engine/isa/catalogue.hpp"
#include "engine/syntax/environment.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pto::resolve {

struct ResolveOptions {
    const isa::Catalogue* catalogue = nullptr;              // null: the builtin one
    std::map<std::string, std::int64_t> tiling_key;         // value of each field of the kernel's tiling_key class
    std::map<std::string, isa::DType> datatype;             // launch mapping: tensor parameter (or type variable) -> element type
    std::vector<std::vector<std::int64_t>> static_shapes;   // [tensor parameters][axes], read for STATIC axes only; may be empty
};

struct Resolved {
    ir::Kernel kernel;
    pipeline::Facts facts;                                             // by-product of the same walk, both targets joined
    std::vector<std::pair<std::string, syntax::Constant>> constants_used; // every outside name the result depends on, in name order
};

/// Settles names, constants, types and inlining, once per core target.
///   in     source   the kernel's tree, its scope and decorator options
///          names    what names outside the kernel mean
///          sources  the texts the tree's spans point into
///          options  specialisation: tiling key, element types, STATIC sizes
///   out    IR of the cube and the vector program (a side without sections of its kind is absent), facts for the pipeline transform
///   fails  PTO-<slug> codes of codes_language.def; errors are collected statement by statement, one cause is reported once
///   cost   linear in the text that is kept, helpers counted once per inlined call
///   source language reference, 1 to 7
Result<Resolved> resolve(const syntax::KernelSource& source, syntax::Environment& names, SourceMap& sources, const ResolveOptions& options = {});

} // namespace pto::resolve
