"""TypeScript as a table."""

from __future__ import annotations

import re

from criticality.languages.base.grammar.table import OPERATORS, Table

TYPESCRIPT = Table(
    name="typescript",
    package="tree_sitter_typescript",
    entry="language_typescript",
    indent="  ",
    file=("", ""),
    function=("function body() {\n", "\n}\n"),
    todo='throw new Error("not implemented");',
    wants=('Error("not implemented")', "Error('not implemented')"),
    functions=frozenset({"function_declaration", "method_definition", "arrow_function", "function_expression"}),
    blocks=frozenset({"statement_block"}),
    strings=frozenset({"string", "template_string", "regex"}),
    comments=frozenset({"comment"}),
    spanning=("`", "/*"),
    refused_code={r"<!--": "an HTML comment", r"\\u": "an escape in a name"},
    directives=re.compile(r"@ts-|[et]slint|prettier-ignore|[cv]8 ignore|istanbul|[@#] ?source|<reference"),
    attached={"decorator": "a decorator", "hash_bang_line": "a hash bang"},
    forbidden={
        "import_statement": "an import", "export_statement": "an export", "import": "an import",
        "import_alias": "an import", "meta_property": "import.meta", "class_declaration": "a class",
        "class": "a class", "abstract_class_declaration": "a class", "interface_declaration": "an interface",
        "enum_declaration": "an enum", "internal_module": "a namespace", "module": "a namespace",
        "ambient_declaration": "an ambient declaration", "await_expression": "async code", "async": "async code",
        "yield_expression": "a generator", "generator_function": "a generator",
        "generator_function_declaration": "a generator", "with_statement": "a with statement",
        "debugger_statement": "a debugger statement", "this": "this", "super": "super",
    },
    outside=frozenset(
        {
            "eval", "Function", "globalThis", "global", "window", "self", "document", "process", "require",
            "module",
            "exports", "fetch", "XMLHttpRequest", "WebSocket", "Worker", "SharedArrayBuffer", "Atomics",
            "Reflect",
            "Proxy", "WebAssembly", "Deno", "Bun", "Buffer", "setTimeout", "setInterval", "setImmediate",
            "queueMicrotask", "importScripts", "localStorage", "sessionStorage", "navigator", "location",
            "crypto",
            "__dirname", "__filename", "arguments", "FinalizationRegistry", "WeakRef", "Promise",
        }
    ),
    members=frozenset(
        {
            "constructor", "__proto__", "prototype", "__defineGetter__", "__defineSetter__", "__lookupGetter__",
            "__lookupSetter__", "caller", "callee", "setPrototypeOf", "defineProperty", "defineProperties",
            "getPrototypeOf",
        }
    ),
    console=("console.",),
    unsteady=("Date.now", "new Date()", "Math.random", "performance.now"),
    callees={"call_expression": "function", "new_expression": "constructor"},
    bindings={
        "variable_declarator": ("name",), "required_parameter": ("pattern",), "optional_parameter": ("pattern",),
        "arrow_function": ("parameter",), "for_in_statement": ("left",), "catch_clause": ("parameter",),
        "function_declaration": ("name",), "function_expression": ("name",),
    },
    targets={
        "assignment_expression": "left", "augmented_assignment_expression": "left",
        "update_expression": "argument",
    },
    reaches={
        "member_expression": "object", "subscript_expression": "object", "non_null_expression": "",
        "parenthesized_expression": "", "as_expression": "", "satisfies_expression": "",
    },
    mutators=frozenset(
        {
            "push", "pop", "shift", "unshift", "splice", "sort", "reverse", "fill", "copyWithin", "set", "add",
            "delete", "clear", "setTime", "setFullYear", "setMonth", "setDate", "setHours", "setMinutes",
            "setSeconds", "setMilliseconds",
        }
    ),
    names=frozenset({"identifier", "shorthand_property_identifier"}),
    branches=frozenset({
        "if_statement", "ternary_expression", "catch_clause", "switch_statement", "try_statement",
    }),
    loops=frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"}),
    cases=frozenset({"switch_case"}),
    short_circuit=frozenset({"&&", "||", "??"}),
    exits=frozenset({"return_statement", "throw_statement", "break_statement", "continue_statement"}),
    operators=OPERATORS,
    exchanged={"min": "max", "max": "min", "every": "some", "some": "every", "floor": "ceil", "ceil": "floor"},
    droppable=frozenset({"expression_statement", "if_statement", "throw_statement"}),
    numbers=frozenset({"number"}),
    truths=frozenset({"true", "false"}),
    conditions={"if_statement": "condition", "while_statement": "condition", "ternary_expression": "condition"},
    types=frozenset({"generic_type", "union_type", "object_type"}),
    pushes=frozenset({"push", "add", "set"}),
    nothing=re.compile(r"[!=]==? *(?:null|undefined)\b"),
    declares={
        "function_declaration": re.compile("function "), "lexical_declaration": re.compile("const "),
        "type_alias_declaration": re.compile("type "),
    },
)  # fmt: skip
