"""Rust as a table."""

from __future__ import annotations

import re

from criticality.languages.base.grammar.table import OPERATORS, Table

_COMPUTING = frozenset(
    {
        "borrow", "char", "cmp", "collections", "convert", "default", "f32", "f64", "fmt", "hash", "i8", "i16",
        "i32", "i64", "i128", "iter", "marker", "mem", "num", "ops", "option", "primitive", "result", "slice",
        "str", "string", "time", "u8", "u16", "u32", "u64", "u128", "usize", "isize", "vec", "array", "matches",
        "format", "rc", "assert", "assert_eq", "assert_ne",
    }
)  # fmt: skip

RUST = Table(
    name="rust",
    package="tree_sitter_rust",
    file=("", ""),
    function=("fn body() {\n", "\n}\n"),
    todo="todo!()",
    wants=("todo!", "unimplemented!"),
    functions=frozenset({"function_item"}),
    blocks=frozenset({"block"}),
    strings=frozenset({"string_literal", "raw_string_literal", "char_literal"}),
    comments=frozenset({"line_comment", "block_comment"}),
    spanning=('"', "/*"),
    directives=re.compile(r"//[/!]|/\*[*!]"),
    attached={
        "inner_attribute_item": "an attribute", "attribute_item": "an attribute", "macro_definition": "a macro",
        "inner_doc_comment_marker": "documentation of the function", "empty_statement": "an empty statement",
    },
    forbidden={
        "use_declaration": "an import", "extern_crate_declaration": "an import", "mod_item": "a module",
        "impl_item": "an impl", "trait_item": "a trait",
        "foreign_mod_item": "a foreign interface", "extern_modifier": "a foreign interface",
        "static_item": "a static", "struct_item": "a type", "enum_item": "a type", "union_item": "a type",
        "unsafe_block": "unsafe code", "async_block": "async code", "await_expression": "async code",
        "gen_block": "a generator", "yield_expression": "a generator",
    },
    outside=frozenset({"transmute", "asm", "global_asm", "UnsafeCell", "libc", "catch_unwind"}),
    members=frozenset({"get_unchecked", "get_unchecked_mut", "unwrap_unchecked", "leak", "as_mut_ptr"}),
    console=("println!", "print!", "eprintln!", "eprint!", "dbg!", "std::io"),
    unsteady=("Instant::now", "SystemTime::now", "rand::"),
    callees={"call_expression": "function"},
    roots={"std": _COMPUTING, "core": _COMPUTING, "alloc": _COMPUTING},
    paths=frozenset({"scoped_identifier", "scoped_type_identifier"}),
    macros=frozenset(
        {
            "vec", "matches", "format", "assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq",
            "debug_assert_ne", "unreachable", "panic", "write", "println", "print", "eprintln", "eprint", "dbg",
        }
    ),
    bindings={
        "let_declaration": ("pattern",), "parameter": ("pattern",), "closure_expression": ("parameters",),
        "for_expression": ("pattern",), "match_arm": ("pattern",), "let_condition": ("pattern",),
        "function_item": ("name",), "const_item": ("name",),
    },
    branches=frozenset({"if_expression", "match_expression"}),
    loops=frozenset({"for_expression", "while_expression", "loop_expression"}),
    cases=frozenset({"match_arm"}),
    exits=frozenset({"return_expression", "break_expression", "continue_expression"}),
    operators=OPERATORS,
    exchanged={"min": "max", "max": "min", "all": "any", "any": "all"},
    droppable=frozenset({"expression_statement"}),
    numbers=frozenset({"integer_literal", "float_literal"}),
    truths=frozenset({"boolean_literal"}),
    conditions={"if_expression": "condition", "while_expression": "condition"},
    types=frozenset({"generic_type"}),
    pushes=frozenset({"push", "insert"}),
    nothing=re.compile(r"\.is_none\(\)|\.is_some\(\)|== None|!= None|\bNone =>"),
    declares={
        "function_item": re.compile("fn "), "const_item": re.compile("const "), "type_item": re.compile("type "),
    },
)  # fmt: skip
