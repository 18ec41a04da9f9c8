"""C++ as a table."""

from __future__ import annotations

import re

from criticality.languages.base.grammar.table import OPERATORS, Table

_ALGORITHMS = frozenset(
    {
        "abs", "accumulate", "adjacent_find", "advance", "all_of", "any_of", "as_const", "back_inserter", "begin",
        "binary_search", "ceil", "clamp", "copy", "copy_if", "count", "count_if", "distance", "div", "end",
        "equal",
        "erase", "erase_if", "exchange", "fill", "find", "find_if", "find_if_not", "floor", "for_each", "forward",
        "from_chars", "gcd", "get", "get_if", "has_value", "hash", "holds_alternative", "includes", "inserter",
        "iota", "is_sorted", "isdigit", "lcm", "lexicographical_compare", "lower_bound", "make_optional",
        "make_pair", "make_shared", "make_tuple", "make_unique", "max", "max_element", "merge", "midpoint", "min",
        "min_element", "minmax", "move", "next", "none_of", "nth_element", "partial_sort", "partial_sum",
        "partition", "pow", "prev", "rbegin", "reduce", "ref", "remove", "remove_if", "rend", "replace",
        "reverse",
        "rotate", "round", "set_difference", "set_intersection", "set_union", "size", "sort", "sqrt",
        "stable_partition", "stable_sort", "static_pointer_cast", "stod", "stoi", "stol", "stoll", "swap", "tie",
        "to_chars", "to_string", "to_underlying", "transform", "transform_reduce", "trunc", "unique",
        "upper_bound", "visit", "ssize", "isfinite", "isnan", "llabs", "cmp_less", "cmp_greater", "in_range",
    }
)  # fmt: skip
_COMPUTING = _ALGORITHMS | {
    "array", "bitset", "byte", "chrono", "common_type_t", "decay_t", "deque", "domain_error", "equal_to",
    "exception", "format", "function", "greater", "hours", "initializer_list", "int16_t", "int32_t", "int64_t",
    "int8_t", "invalid_argument", "less", "length_error", "list", "logic_error", "map", "minutes", "monostate",
    "multimap", "multiplies", "multiset", "nullopt", "numeric_limits", "optional", "ostringstream",
    "out_of_range",
    "overflow_error", "pair", "plus", "minus", "priority_queue", "ptrdiff_t", "queue", "range_error", "ranges",
    "runtime_error", "seconds", "set", "shared_ptr", "size_t", "span", "stack", "string", "string_view",
    "stringstream", "tuple", "tuple_size_v", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "underflow_error",
    "unique_ptr", "unordered_map", "unordered_multimap", "unordered_set", "variant", "vector", "views",
    "weak_ordering", "strong_ordering", "partial_ordering", "is_same_v", "errc", "from_chars_result",
    "milliseconds",
    "days", "in_place", "bit_and", "bit_or", "logical_and", "logical_or", "negate", "identity", "as_const",
}  # fmt: skip

CPP = Table(
    name="cpp",
    package="tree_sitter_cpp",
    indent="  ",
    file=("", ""),
    function=("auto body() {\n", "\n}\n"),
    todo='throw std::logic_error("not implemented");',
    wants=('logic_error("not implemented")',),
    functions=frozenset({"function_definition"}),
    blocks=frozenset({"compound_statement"}),
    strings=frozenset({"string_literal", "raw_string_literal", "char_literal"}),
    comments=frozenset({"comment"}),
    spanning=('R"', "/*"),
    refused={
        r"\\[ \t]*\n": "a backslash at the end of a line", r"\?\?[=/'()!<>-]": "a trigraph",
        r"\\(?:u|U|N)": "a universal character name; write the character",
    },
    refused_code={
        r"#": "a preprocessor line", r"<%|%>|<:|:>|%:": "a digraph", r"\b__\w+|\b_[A-Z]\w*": "a reserved name",
    },
    directives=re.compile(r"NOLINT|clang-format|IWYU|cppcheck-suppress|GCOV_EXCL|LCOV_EXCL"),
    attached={
        "attribute_declaration": "an attribute", "attribute_specifier": "an attribute",
        "alignas_qualifier": "alignas",
        "attributed_statement": "an attribute", "ms_declspec_modifier": "an attribute",
    },
    forbidden={
        "preproc_include": "an include", "preproc_def": "a preprocessor line",
        "preproc_call": "a preprocessor line",
        "preproc_if": "a preprocessor line", "preproc_ifdef": "a preprocessor line",
        "preproc_function_def": "a preprocessor line", "using_declaration": "an import",
        "namespace_alias_definition": "an import", "alias_declaration": "a type", "type_definition": "a type",
        "class_specifier": "a class", "struct_specifier": "a class", "union_specifier": "a union",
        "enum_specifier": "an enum", "linkage_specification": "a foreign interface",
        "storage_class_specifier": "a static or an extern", "gnu_asm_expression": "inline assembly",
        "new_expression": "a new expression", "delete_expression": "delete", "goto_statement": "a goto",
        "co_await_expression": "a coroutine", "co_return_statement": "a coroutine",
        "co_yield_statement": "a coroutine",
        "module_declaration": "a module", "import_declaration": "an import", "export_declaration": "an export",
        "template_declaration": "a template", "friend_declaration": "a friend", "this": "this",
        "seh_try_statement": "a Windows exception", "static_assert_declaration": "a static assertion",
        "function_definition": "a function", "old_style_function_definition": "a function",
    },
    outside=frozenset(
        {
            "system", "popen", "fopen", "freopen", "open", "fork", "vfork", "execl", "execv", "execve", "execvp",
            "dlopen", "dlsym", "mmap", "mprotect", "socket", "connect", "getenv", "setenv", "putenv", "exit",
            "quick_exit", "abort", "raise", "signal", "kill", "syscall", "rename", "unlink", "tmpfile", "setjmp",
            "longjmp", "malloc", "free", "calloc", "realloc", "alloca", "memcpy", "memmove", "memset", "atexit",
            "reinterpret_cast", "const_cast", "typeid", "asm", "terminate",
        }
    ),
    members=frozenset({"release", "native_handle"}),
    console=("std::cout", "std::cerr", "std::clog", "std::cin", "printf", "puts", "std::print"),
    unsteady=("rand", "srand", "random_device", "mt19937",
        "chrono::system_clock::now", "chrono::steady_clock::now", "time(", "clock("),
    callees={"call_expression": "function"},
    builtins=frozenset(
        {
            "assert", "int", "long", "double", "float", "bool", "char", "unsigned", "static_cast", "dynamic_cast",
            "sizeof", "begin", "end", "size", "get", "swap",
        }
    ),
    roots={"std": frozenset(_COMPUTING)},
    paths=frozenset({"qualified_identifier"}),
    bindings={
        "init_declarator": ("declarator",), "declaration": ("declarator",),
        "parameter_declaration": ("declarator",),
        "for_range_loop": ("declarator",), "optional_parameter_declaration": ("declarator",),
        "lambda_capture_initializer": ("left",), "condition_clause": ("value",),
    },
    branches=frozenset({
        "if_statement", "conditional_expression", "catch_clause", "switch_statement", "try_statement",
    }),
    loops=frozenset({"for_statement", "for_range_loop", "while_statement", "do_statement"}),
    cases=frozenset({"case_statement"}),
    short_circuit=frozenset({"&&", "||", "and", "or"}),
    exits=frozenset({"return_statement", "throw_statement", "break_statement", "continue_statement"}),
    operators=OPERATORS,
    exchanged={"min": "max", "max": "min", "all_of": "any_of", "any_of": "all_of"},
    droppable=frozenset({"expression_statement", "if_statement", "throw_statement"}),
    numbers=frozenset({"number_literal"}),
    truths=frozenset({"true", "false"}),
    conditions={
        "if_statement": "condition", "while_statement": "condition", "conditional_expression": "condition",
    },
    types=frozenset({"template_type"}),
    pushes=frozenset({"push_back", "emplace_back", "insert", "emplace"}),
    nothing=re.compile(r"[!=]= *(?:nullptr|std::nullopt)\b|\.has_value\(\)"),
    declares={
        "function_definition": re.compile("static "), "declaration": re.compile("(?:static |inline )?constexpr "),
        "alias_declaration": re.compile("using "),
    },
)  # fmt: skip
