"""Blocks of addresses: texts with a grammar, an invariant between two fields, a sweep over sorted ranges."""

from __future__ import annotations

from typing import Any

_SIZES = "[65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1]"
_NUMBER = (
    "text.isascii() and text.isdigit() and len(text) <= 3 and (text == '0' or text[0] != '0') and int(text) <= 255"
)
SPEC: dict[str, Any] = {
    "system": {"name": "blocks", "description": "Sets of addresses as blocks."},
    "newtypes": {
        "Octet": {"base": "Int", "constraints": ["non_negative", "max(255)"]},
        "Address": {"base": "Int", "constraints": ["non_negative", "max(65535)"]},
        "Prefix": {"base": "Int", "constraints": ["non_negative", "max(16)"]},
    },
    "errors": {"BadText": "The text is no number"},
    "data_models": {
        "Block": {
            "fields": [{"name": "network", "type": "Address"}, {"name": "prefix", "type": "Prefix"}],
            "invariants": [f"network % {_SIZES}[prefix] == 0"],
        },
        "Range": {
            "fields": [{"name": "first", "type": "Address"}, {"name": "last", "type": "Address"}],
            "invariants": ["first <= last"],
        },
    },
    "interfaces": {"Blocks": {"methods": [{"name": "merged", "params": ["blocks: List<Block>"], "returns": "List<Range>"}]}},
    "claims": {"merge_001": {"text": "Merged ranges hold what the blocks hold", "type": "invariant"}},
}  # fmt: skip
PLAN: list[dict[str, Any]] = [
    {
        "name": "numbers", "purpose": "Reading numbers.",
        "functions": [
            {
                "name": "parse_number", "params": ["text: Text"], "returns": "Result<Octet, BadText>",
                "doc": "Read a decimal number of at most 255, without leading zeros.",
                "contracts": [
                    f"ENSURES: ({_NUMBER}) implies not raises(BadText)", f"ENSURES: not ({_NUMBER}) implies raises(BadText)",
                    "ENSURES: str(result) == text", "PURITY: pure",
                ],
            },
        ], "imports": ["re"],
    },
    {
        "name": "areas", "purpose": "What a block holds.",
        "functions": [
            {
                "name": "size_of", "params": ["block: Block"], "returns": "Int", "doc": "How many addresses it holds.",
                "contracts": [f"ENSURES: result == {_SIZES}[block.prefix]", "PURITY: pure"],
            },
            {
                "name": "last_of", "params": ["block: Block"], "returns": "Address", "doc": "Its last address.",
                "contracts": ["ENSURES: result == block.network + size_of(block) - 1", "PURITY: pure"],
                "calls": ["areas.size_of"],
            },
            {
                "name": "holds", "params": ["block: Block", "address: Address"], "returns": "Bool",
                "doc": "Whether it holds an address.",
                "contracts": [
                    "ENSURES: result == (block.network <= address and address <= last_of(block))", "PURITY: pure",
                ],
                "calls": ["areas.last_of"],
            },
            {
                "name": "merged", "params": ["blocks: List<Block>"], "returns": "List<Range>",
                "doc": "The fewest ranges that hold what the blocks hold, ascending.",
                "contracts": [
                    "ENSURES: all(a.last + 1 < b.first for a, b in zip(result, result[1:]))",
                    "ENSURES: all(any(r.first <= b.network and last_of(b) <= r.last for r in result) for b in blocks)",
                    "ENSURES: all(any(b.network == r.first for b in blocks) and any(last_of(b) == r.last for b in blocks) for r in result)",
                    "ENSURES: all(last_of(b) == r.last or any(c.network <= last_of(b) + 1 and last_of(c) > last_of(b) for c in blocks) for r in result for b in blocks if r.first <= b.network and b.network <= r.last)",
                    "COMPLEXITY: O(n log n) where n = len(blocks)", "PURITY: pure",
                ],
                "calls": ["areas.last_of"],
            },
        ],
    },
]  # fmt: skip
RIGHT = {
    "numbers.parse_number": (
        'if not (text.isascii() and text.isdigit() and len(text) <= 3):\n    raise BadText\n'
        'if text != str(int(text)) or int(text) > 255:\n    raise BadText\nreturn Octet(int(text))'
    ),
    "areas.size_of": "return 65536 // 2 ** int(block.prefix)",
    "areas.last_of": "return Address(block.network + size_of(block) - 1)",
    "areas.holds": "return block.network <= address <= last_of(block)",
    "areas.merged": (
        "result: list[Range] = []\nfor block in sorted(blocks, key=lambda block: block.network):\n"
        "    last = last_of(block)\n    if result and block.network <= result[-1].last + 1:\n"
        "        if last > result[-1].last:\n            result[-1] = replace(result[-1], last=last)\n"
        "    else:\n        result.append(Range(block.network, last))\nreturn tuple(result)"
    ),
}  # fmt: skip
_HEAD = "result: list[Range] = []\nfor block in sorted(blocks, key=lambda block: block.network):\n    last = last_of(block)\n"
WRONG = [
    ("numbers.parse_number", 'if not re.match(r"[0-9]{1,3}$", text) or int(text) > 255:\n    raise BadText\nreturn Octet(int(text))'),
    ("numbers.parse_number", 'if not re.match(r"(0|[1-9][0-9]{0,2})$", text) or int(text) > 255:\n    raise BadText\nreturn Octet(int(text))'),
    ("numbers.parse_number", 'if not text.isdigit() or str(int(text)) != text or int(text) > 256:\n    raise BadText\nreturn Octet(int(text))'),
    ("numbers.parse_number", 'try:\n    number = int(text)\nexcept ValueError:\n    raise BadText from None\nif not 0 <= number <= 255:\n    raise BadText\nreturn Octet(number)'),
    ("numbers.parse_number", 'if not text.isdecimal() or len(text) > 3 or int(text) > 255:\n    raise BadText\nif text[0] == "0" and len(text) > 1:\n    raise BadText\nreturn Octet(int(text))'),
    ("areas.last_of", "return Address(block.network + size_of(block) - 1 if block.prefix < 16 else block.network + 1)"),
    ("areas.holds", "return block.network <= address < last_of(block)"),
    ("areas.holds", "return block.network < address <= last_of(block) or block.prefix == 16 and address == block.network"),
    ("areas.merged", _HEAD + "    if result and block.network <= result[-1].last:\n        if last > result[-1].last:\n            result[-1] = replace(result[-1], last=last)\n    else:\n        result.append(Range(block.network, last))\nreturn tuple(result)"),
    ("areas.merged", _HEAD + "    if result and block.network <= result[-1].last + 1:\n        result[-1] = replace(result[-1], last=last)\n    else:\n        result.append(Range(block.network, last))\nreturn tuple(result)"),
    ("areas.merged", _HEAD + "    if result and block.network <= result[-1].last + 2:\n        if last > result[-1].last:\n            result[-1] = replace(result[-1], last=last)\n    else:\n        result.append(Range(block.network, last))\nreturn tuple(result)"),
    ("areas.merged", _HEAD.replace("sorted(blocks, key=lambda block: block.network)", "blocks") + "    if result and block.network <= result[-1].last + 1:\n        if last > result[-1].last:\n            result[-1] = replace(result[-1], last=last)\n    else:\n        result.append(Range(block.network, last))\nreturn tuple(result)"),
    ("areas.merged", _HEAD.replace("sorted(blocks, key", "sorted(blocks[:40], key") + "    if result and block.network <= result[-1].last + 1:\n        if last > result[-1].last:\n            result[-1] = replace(result[-1], last=last)\n    else:\n        result.append(Range(block.network, last))\nreturn tuple(result)"),
    ("areas.merged", "result: list[Range] = []\nfor block in sorted(blocks, key=lambda block: block.network):\n    merged_into = False\n    for place, one in enumerate(result):\n        if one.first <= block.network <= one.last + 1:\n            result[place] = Range(one.first, max(one.last, last_of(block)))\n            merged_into = True\n    if not merged_into:\n        result.append(Range(block.network, last_of(block)))\nreturn tuple(result)"),
]  # fmt: skip
