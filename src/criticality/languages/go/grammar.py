"""Go as a table."""

from __future__ import annotations

import re

from criticality.languages.base.grammar.table import OPERATORS, Table

GO = Table(
    name="go",
    package="tree_sitter_go",
    indent="\t",
    file=("package body\n", ""),
    function=("package body\nfunc body() {\n", "\n}\n"),
    todo='panic("not implemented")',
    wants=('panic("not implemented")', "panic(`not implemented`)"),
    functions=frozenset({"function_declaration", "method_declaration"}),
    blocks=frozenset({"block"}),
    strings=frozenset({"interpreted_string_literal", "raw_string_literal", "rune_literal"}),
    comments=frozenset({"comment"}),
    spanning=("`", "/*"),
    directives=re.compile(r"\A(?:/[/*](?:go:|line |export )|// *\+build|//#)|#nosec|nolint"),
    forbidden={
        "import_declaration": "an import", "package_clause": "a package clause", "go_statement": "a goroutine",
        "type_declaration": "a type", "select_statement": "a select", "send_statement": "a channel",
        "channel_type": "a channel", "method_declaration": "a method", "function_declaration": "a function",
    },
    outside=frozenset(
        {
            "os", "exec", "net", "http", "syscall", "unsafe", "reflect", "runtime", "plugin", "ioutil", "io",
            "debug", "C", "embed", "filepath", "signal", "user", "recover", "print", "println",
        }
    ),
    console=("fmt.Print", "fmt.Fprint", "fmt.Scan", "log."),
    unsteady=("time.Now", "time.Since", "time.Sleep", "time.After", "rand."),
    callees={"call_expression": "function"},
    bindings={
        "short_var_declaration": ("left",), "var_spec": ("name",), "const_spec": ("name",),
        "range_clause": ("left",),
        "parameter_declaration": ("name",), "type_switch_statement": ("alias",),
    },
    targets={"assignment_statement": "left", "inc_statement": "", "dec_statement": ""},
    reaches={
        "selector_expression": "operand", "index_expression": "operand", "slice_expression": "operand",
        "unary_expression": "operand", "parenthesized_expression": "",
    },
    mutators=frozenset(
        {
            "Sort", "Slice", "SliceStable", "SortFunc", "SortStableFunc", "Reverse", "Strings", "Ints", "copy",
            "delete", "clear", "Store", "Add", "Set",
        }
    ),
    changes_arguments=True,
    branches=frozenset({"if_statement", "expression_switch_statement", "type_switch_statement"}),
    loops=frozenset({"for_statement"}),
    cases=frozenset({"expression_case", "type_case"}),
    exits=frozenset({"return_statement", "break_statement", "continue_statement", "goto_statement"}),
    operators=OPERATORS,
    exchanged={"min": "max", "max": "min", "Min": "Max", "Max": "Min"},
    droppable=frozenset(
        {"expression_statement", "assignment_statement", "if_statement", "inc_statement", "dec_statement"}
    ),
    numbers=frozenset({"int_literal", "float_literal"}),
    truths=frozenset({"true", "false"}),
    conditions={"if_statement": "condition"},
    types=frozenset({"map_type", "slice_type", "generic_type", "function_type"}),
    pushes=frozenset({"append"}),
    nothing=re.compile(r"[!=]= *nil\b"),
    declares={
        "function_declaration": re.compile("func [a-z]"), "const_declaration": re.compile("const [a-z]"),
        "type_declaration": re.compile("type [a-z][A-Za-z0-9]* = "),
    },
)  # fmt: skip
