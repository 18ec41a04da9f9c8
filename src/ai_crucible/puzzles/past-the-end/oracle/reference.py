"""Right answers by a way of their own, and the inputs that they are asked for."""

import re


def known(buffer, end):
    return re.findall('="([^"]*)"', buffer[:end])


def text(random, most=14):
    return "".join(random.choice('="=""ab <>\'&\\\0\n\r\u2028') for _ in range(random.randint(0, most)))


def behind(random):
    for html, rest in (('<a b="', 'secret" c="more"'), ("<a b=", '"secret"'), ('<a b="x', 'yz"'), ('<i x="1" y="', 'cookie"'), ('<i x="1" y=', '"cookie"'), ('a="x\ny"', ""), ('a="\n"', 'b="\n"'), ('\n="a\n', 'b"'), ('a=\n"b" c="d"', 'e"'), ('a="\r\n\x85" b="\x0c"', "")):
        yield {"args": [html + rest, len(html)], "expect": known(html, len(html))}
    # A page of nothing, an end within a value, its marks and what comes next, and an end at the buffer's.
    for buffer in ('<a b="x" c="y">d="z"', '="a"="b"', '="="="=""', 'a="<b>&amp;\'\\" c="\\"d"', '="\0" = "x" ="\u2028 y "', "='a'=\"b'c\"", 'a ="x"  b= "y"="z"'):
        for end in range(len(buffer) + 1):
            yield {"args": [buffer, end], "expect": known(buffer, end)}
    for html in ('a="b' * 3000, 'a="' + "x" * 20_000, "=" * 3000 + '"', '="' * 3001):
        yield {"args": [html + '" c="d"', len(html)], "expect": known(html, len(html))}
    for _ in range(60):
        buffer = text(random, 24)
        end = random.randint(0, len(buffer))
        yield {"args": [buffer, end], "expect": known(buffer, end)}
    while True:
        html, rest = text(random) + random.choice(['="', "=", '="x', '"', ""]), text(random) + '"' + text(random) + '="z"'
        yield {"args": [html + rest, len(html)], "expect": known(html, len(html))}


def whole(random):
    for html, rest in (('<a b="x" c="y">', 'secret="z"'), ("", ""), ('<a b="">', ""), ('<a b="=">', ""), ("", 'a="b"'), ('a="b"', 'c="d"'), ('x=""', ""), ('x=""="a"', ""), ('a="1\n2"', 'b="3"'), ('a="\n"\n="\n"', ""), ('a="x\ny" ' * 2500, '"')):
        yield {"args": [html, rest], "expect": known(html, len(html))}
    while True:
        html = "".join(f'{random.choice("abc <>")}="{text(random).replace(chr(34), "")}"' for _ in range(random.randint(0, 5))) + ">"
        yield {"args": [html, text(random)], "expect": known(html, len(html))}
