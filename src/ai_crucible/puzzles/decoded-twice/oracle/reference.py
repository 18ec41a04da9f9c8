"""Right answers by a way of their own, and the inputs that they are asked for."""

import unicodedata

HEX = "0123456789abcdefABCDEF"


def known(path):
    data, place = bytearray(), 0
    raw = path.encode("utf-8", "surrogatepass")
    while place < len(raw):
        pair = raw[place + 1 : place + 3].decode("latin-1")
        if raw[place] == 37 and len(pair) == 2 and all(c in HEX for c in pair):
            data.append(int(pair, 16))
            place += 3
        else:
            data.append(raw[place])
            place += 1
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if "\\" in text or any(unicodedata.category(c) == "Cc" for c in text):
        return None
    if any(text[n] == "%" and len(text) > n + 2 and text[n + 1] in HEX and text[n + 2] in HEX for n in range(len(text))):
        return None
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return None if ".." in parts else "/site/" + "/".join(parts)


def cases(paths):
    for path in paths:
        yield {"args": [path], "expect": known(path)}


def climbing(random):
    yield from cases(["/a/%2e%2e/b", "/%2e%2e%2fetc/passwd", "/a/..%5c..", "/%2E%2E", "/.%2e", "/%2e.", "a%2f..%2fb", "..%2f", "%5c", "a\\b"])
    yield from cases(["a/" * 3000 + "%2e%2e", "%2e%2e/" + "a/" * 3000, "a/%2e%2e/a", "../", "%2F..", "..%2F..", "/a/..;/b", "/..%20", "/a%5cb", "/..\\..", "..//", "//..", "./..", "%2e%2e%2f%2e%2e%2f"])
    while True:
        yield from cases(["/".join(random.choice(["a", "%2e%2e", "..", ".%2E", "%2e", "...", "b%2f%2e%2e"]) for _ in range(3))])


def once(random):
    yield from cases(["/%252e%252e/x", "/a%2525", "/100%25", "/%25", "/%2541", "/%25%34%31", "/%2", "/%", "/%zz", "/%4", "/a%2B+b", "/%25zz", "/%25a", "/%254A", "/%25aF", "/%25Fa", "/%25%46%46", "/%25CC/x", "/%%34%31", "/%20 "])
    # What `int` takes for a number besides two hex digits, and what only looks like it.
    for mark in ("+", "-", " ", "_", "x", "\u3000", "\u0661", "\uff11", "\u00b2", "\u0966", "\uff21"):
        for digit in ("0", random.choice("123456789"), random.choice("abcdefABCDEF")):
            yield from cases([f"%{mark}{digit}", f"/a%{digit}{mark}", f"/%25{mark}{digit}", f"%2525{digit}{mark}"][:: random.choice([1, -1])])
    yield from cases(["%0x41", "%+%41", "%\uff12\uff15", "/%\u0664\u0661"])
    while True:
        yield from cases(["/" + "".join(random.choice(["%", "+", "-", "25", "4", "1", "%25", "x", "%41", "/", "g"]) for _ in range(random.randint(1, 7)))])


def no_text(random):
    yield from cases(["/%c0%ae%c0%ae/x", "/%ff", "/a%00.txt", "/%ed%a0%80", "/%c3", "/%f5%80%80%80", "/a\nb", "/%f4%90%80%80", "/%f8%88%80%80%80", "/%c3a", "/%c3/%a9", "/%e2%82/a", "/%e2%82", "/\u00c3%a9", "/\u00e9%a9", "/%c3\u00a9", "/\u00e2\u0082%ac", "/%e2\u0082\u00ac", "/%c1%bf", "/%e0%80%af", "/%f0%80%80%ae", "/%a9", "/%ed%bf%bf", "/%ed%a0%bd%ed%b8%80", "/%00", "/\0", "%0", "%0a", "a%0d%0ab", "%7f", "\x7f", "%c2%80", "\x80", "%c2%9f", "\x9f"])
    yield from cases([f"/a%{code:02x}" for code in range(256)])
    # Half of a pair is no text either, whoever wrote it.
    yield from cases(["/a\udcff", "\ud800", "/a/\udfff/b", "\udce9%41", "%41\ud83d", "/\ude00\ud83d", "\udc80/.."])
    yield from cases(["/a" + chr(code) for code in [*range(40), *range(120, 170), 0x2028, 0xFEFF, 0x200B]])
    yield from cases(["/a%C2%" + f"{code:02X}" for code in range(0x80, 0xC0)])


def honest(random):
    yield from cases(["/a/./b//c.txt", "/caf%C3%A9", "", "/", "//", ".", "/./", "a", "/a/", "/café", "/...", "/..a", "/a..", "/a%2fb", "/%2e/x", "/a?b", "/a#b", "/../x"])
    # What only looks like a part, a slash or a sign of another kind, and what is as long as it likes.
    yield from cases(["\uff0e\uff0e/x", "/\u2025/x", "/\u2024\u2024", "a\uff0f..\uff0fb", "\u2215", "\uff3c", "\uff05\uff12\uff15", "%ef%bc%8e%ef%bc%8e", "/ ../x", "/.. /x", "/. /x", "/ ", "/%20./x", "/..\u200b/x", "\ufeff../x", "A/b/A", "/a+b", "/e\u0301", "/\u00e9", "/\u0130\u00df", "/~/x", "C:/x", "//host/x", "/a;b", "/a:b", "/%2f%2F/a", "%2f", "%2e", "/%2e%2e%2e", "/a%26b%3D", "/%c2%a0x%c2%a0", "/\u00adx", "/%e2%80%ae", "a/" * 3000, "%41" * 3000, "./" * 3000 + "a", "/%f0%9f%98%80", "/%F4%8F%BF%BF", "/%ee%80%80", "/%ed%9f%bf"])
    # The mark that stands for bad text is text itself, and so are its neighbours and what else is at an end.
    for sign in "\ufffd\ufffc\uffff\ufffe\ufeff\ud7ff\ue000\U00010000\U0010ffff\u00a0\u2028":
        encoded = "".join(f"%{byte:02x}" for byte in sign.encode())
        yield from cases([sign, encoded, f"/a/{encoded.upper()}b", f"{sign}{encoded}/."])
    while True:
        yield from cases(["/".join(random.choice(["a", "\ufffd", "%ef%BF%bd", ".", "", "b.txt", "caf%c3%a9", "...", "a b", "a%20b", "ü"]) for _ in range(random.randint(0, 6)))])
