"""Java as a table."""

from __future__ import annotations

import re

from criticality.languages.base.grammar.table import OPERATORS, Table

_COMPUTING = frozenset({"util", "math", "time", "text"})
#: Classes of ``java.util`` that only compute; the others read and write files, start threads, keep settings.
_UTIL = (
    "ArrayDeque|ArrayList|Arrays|BitSet|Collection|Collections|Comparator|Deque|EnumMap|EnumSet|HashMap|HashSet|"
    "Iterator|LinkedHash\\w+|LinkedList|List|ListIterator|Locale|Map|Navigable\\w+|NoSuchElementException|Objects|"
    "Optional\\w*|PriorityQueue|Queue|Sequenced\\w+|Set|Sorted\\w+|StringJoiner|TreeMap|TreeSet|UUID"
)

JAVA = Table(
    name="java",
    package="tree_sitter_java",
    file=("final class Body {\n", "\n}\n"),
    function=("final class Body {\nstatic Object body() {\n", "\n}\n}\n"),
    todo='throw new UnsupportedOperationException("not implemented");',
    wants=('UnsupportedOperationException("not implemented")', "UnsupportedOperationException()"),
    functions=frozenset({"method_declaration", "constructor_declaration"}),
    blocks=frozenset({"block", "constructor_body"}),
    strings=frozenset({"string_literal", "character_literal"}),
    comments=frozenset({"line_comment", "block_comment"}),
    spanning=('"""', "/*"),
    refused_code={
        rf"\bjava\s*\.\s*util\s*\.\s*(?!(?:(?:function|stream|regex)\s*\.|(?:{_UTIL})\b))": (
            "a class of java.util that is not for computing"
        ),
    },
    refused={r"\\u": "a Unicode escape, which Java reads before anything else; write the character"},
    directives=re.compile(r"NOSONAR|NOPMD|CHECKSTYLE|@formatter"),
    attached={"marker_annotation": "an annotation", "annotation": "an annotation"},
    forbidden={
        "import_declaration": "an import", "package_declaration": "a package", "class_declaration": "a class",
        "interface_declaration": "an interface", "enum_declaration": "an enum", "record_declaration": "a record",
        "class_body": "a class", "synchronized_statement": "a lock", "this": "this", "super": "super",
        "class_literal": "a class literal", "template_expression": "a string template",
    },
    outside=frozenset(
        {
            "System", "Runtime", "ProcessBuilder", "Process", "ProcessHandle", "Thread", "ThreadGroup",
            "ThreadLocal", "InheritableThreadLocal", "ClassLoader", "Class", "Module", "ModuleLayer", "StackWalker",
            "ScopedValue", "Runnable", "Compiler", "SecurityManager", "FunctionalInterface",
        }
    ),
    members=frozenset(
        {
            "getClass", "forName", "newInstance", "invoke", "getMethod", "getDeclaredMethod", "getDeclaredField",
            "getField", "setAccessible", "getClassLoader", "getProtectionDomain", "notify", "notifyAll", "wait",
            "parallelStream", "parallel",
        }
    ),
    console=("System.out", "System.err", "System.in"),
    unsteady=(
        "Instant.now", "LocalDate.now", "LocalDateTime.now", "ZonedDateTime.now", "Math.random", "new Random()",
        "System.nanoTime", "System.currentTimeMillis", "UUID.randomUUID", "Clock.system",
    ),
    callees={"method_invocation": "name", "object_creation_expression": "type"},
    roots={"java": _COMPUTING, "javax": frozenset(), "sun": frozenset(), "com": frozenset(), "jdk": frozenset()},
    paths=frozenset({"field_access", "scoped_type_identifier", "scoped_identifier", "method_reference"}),
    bindings={
        "variable_declarator": ("name",), "formal_parameter": ("name",), "enhanced_for_statement": ("name",),
        "lambda_expression": ("parameters",), "catch_formal_parameter": ("name",), "resource": ("name",),
        "instanceof_expression": ("name",), "type_pattern": ("",), "record_pattern_component": ("",),
    },
    targets={"assignment_expression": "left", "update_expression": ""},
    reaches={
        "field_access": "object", "array_access": "array", "parenthesized_expression": "",
        "cast_expression": "value",
    },
    mutators=frozenset(
        {
            "add", "addAll", "remove", "removeAll", "removeIf", "retainAll", "clear", "put", "putAll",
            "putIfAbsent",
            "set", "sort", "replaceAll", "merge", "compute", "computeIfAbsent", "computeIfPresent", "push", "pop",
            "poll", "offer", "addFirst", "addLast", "removeFirst", "removeLast",
        }
    ),
    names=frozenset({"identifier", "type_identifier"}),
    branches=frozenset({
        "if_statement", "ternary_expression", "catch_clause", "switch_expression", "try_statement",
    }),
    loops=frozenset({"for_statement", "enhanced_for_statement", "while_statement", "do_statement"}),
    cases=frozenset({"switch_block_statement_group", "switch_rule"}),
    exits=frozenset({"return_statement", "throw_statement", "break_statement", "continue_statement"}),
    operators=OPERATORS,
    exchanged={"min": "max", "max": "min", "allMatch": "anyMatch", "anyMatch": "allMatch"},
    droppable=frozenset({"expression_statement", "if_statement", "throw_statement"}),
    numbers=frozenset({"decimal_integer_literal", "decimal_floating_point_literal", "hex_integer_literal"}),
    truths=frozenset({"true", "false"}),
    conditions={"if_statement": "condition", "while_statement": "condition", "ternary_expression": "condition"},
    types=frozenset({"generic_type"}),
    pushes=frozenset({"add", "put"}),
    nothing=re.compile(r"[!=]= *null\b"),
    declares={
        "method_declaration": re.compile("private static "),
        "field_declaration": re.compile("private static final "),
    },
)  # fmt: skip
