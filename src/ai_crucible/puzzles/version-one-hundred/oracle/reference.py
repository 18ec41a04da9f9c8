"""Right answers by a way of their own, and the inputs that they are asked for."""

def known(agent):
    places = [(agent.find(name), len(name)) for name in ("Chrome/", "Firefox/", "Edg/") if name in agent]
    if not places:
        return None
    place, length = min(places)
    text = agent[place + length :]
    text = text[: next((n for n, c in enumerate(text) if c not in "0123456789."), None)]
    return tuple(int(part) for part in text.split("."))


def number(random):
    return random.choice([0, 1, 9, 10, 99, 100, 101, 1000, random.randint(0, 20_000), 10**30 + random.randint(0, 2)])


def dotted(random):
    return ".".join(str(number(random)) for _ in range(random.randint(1, 5)))


def agents(random):
    for agent in ("Mozilla/5.0 Firefox/100.0", "X Chrome/101.0.4951.41 Safari/537.36", "Chrome/100", "Edg/100.0.1 Chrome/99.0", "Chrome/99.0 Edg/100.0", "Firefox/3.6.28 Chrome/9", "Mozilla/5.0 (X; rv:100.0) Gecko/20100101 Firefox/100.0", "Edge/18.1 Chrome/64.0.3282", "Mozilla/5.0 Edg/7", "HeadlessChrome/100.0", "xEdg/101.2 Chrome/9", "(Chrome/100.1)", ";Firefox/100.0;", "_Chrome/9.0", "7Firefox/12.1", "\u00e9Edg/100", "\nChrome/100.0\nEdg/9", "Mozilla/5.0\tFirefox/100.0\tX", "Chromium/99.0 Chrome/100.0", "EdgA/9 EdgiOS/8 Edg/100.1", "chrome/1 Chrome/2", "Chrome/007.010", "Chrome/0.0.0", "Firefox/0", "Chrome/1.2.3.4.5.6.7.8.9", "Edg/100.0 Edg/200.0", "Firefox/9.9 Firefox/100.0", "Chrome/99.0 Firefox/100.0 Edg/101.0", "Safari/605.1.15 Edg/101.0", "Version/15.4 Mobile/15 Chrome/100", "Mozilla/5.0 (Chrome/98.1; Edg/99.2)", "Chrome/100,Edg/99", "Chrome/100/Edg/99", "Chrome/100)Firefox/3", "\u0661 Chrome/12", "Chrome/" + "9" * 4000, "x" * 20_000 + "Chrome/100.7", "Chrome" * 2000 + "/100.8", "CHROME/1 FIREFOX/2 EDG/3 Edg/4", "Chrome Edg/7", "Chrome /1 Firefox/9", "EdgFirefox/12.3", "ChromeEdg/55.0", "Firefox/" + str(10**30), "Edg/" + ".".join(["1"] * 2500)):
        yield {"args": [agent], "expect": known(agent)}
    while True:
        names = random.sample(["Chrome", "Firefox", "Edg", "Safari", "Edge", "Mozilla", "Opera"], random.randint(2, 5))
        glued = random.choice([[""], ["", "Headless", "x", "(", ";", "_", "9", "\u00e9", "Mobile-", "\n"]])
        agent = random.choice([" ", "; ", "\n", ") "]).join(f"{random.choice(glued)}{name}/{dotted(random)}" for name in names) + random.choice(["", " (X11; Linux)", "; x"])
        if known(agent) is not None:
            yield {"args": [agent], "expect": known(agent)}


def others(random):
    for agent in ("curl/8.0", "", "Safari/605.1", "Mozilla/5.0 (Macintosh) Version/15.4 Safari/605.1.15", "Edge/18.17763", "Opera/100.0", "chrome", "100.0", "chrome/100.0", "FIREFOX/3.6", "EDG/100", "Chromium/100.0", "EdgA/100.0", "CriOS/100.0", "Firefox 100.0", "Chrome /100", "Firefoxx/9", "Ch\u0433ome/9", "Edg.100", "Edg-100", "Edg\\100", "Chrome\uff0f100", "Chrome", "Mozilla/5.0", "Fire fox/9", "hrome/100", "dg/9", "Chrome:100", "100.0 Chrome", "/100", "Edg /1", "\n", " " * 3000, "Chromium" * 2000):
        yield {"args": [agent], "expect": None}


def cut(version):
    while version and version[-1] == 0:
        version = version[:-1]
    return version


def pair(a, b):
    left, right = ([int(part) for part in text.split(".")] for text in (a, b))
    return {"args": [a, b], "expect": cut(left) > cut(right)}


def compared(random):
    for a, b in (("100.0", "99.0"), ("9.1", "10.0"), ("1.10", "1.9"), ("1.0", "1"), ("1", "1.0"), ("1.1", "1"), ("1", "1.1"), ("1.0.0.1", "1"), ("1", "1.0.0.1"), ("2", "1.9.9"), ("1.9.9", "2"), ("1.2.3", "1.2.3"), ("0", "0.0"), ("0.0.1", "0"), ("1.2", "1.1.9"), ("1.1.9", "1.2"), ("10", "9"), ("100", "20"), ("1.05", "1.5"), ("0", "0"), ("0", "1"), ("1", "0"), ("00", "0"), ("1.00", "1"), ("1.0.1", "1.00.0"), ("1.2.3.4.5", "1.2.3.4.4"), ("1.2.3.4.4", "1.2.3.4.5"), ("0.0.0.1", "0.0.0.0.9"), ("9007199254740993", "9007199254740992"), ("9007199254740992", "9007199254740993"), ("1.9007199254740993", "1.9007199254740992"), ("65536.0", "65535.9"), ("1.256", "2.0"), ("1.1000000", "2"), ("1.65536", "1.0"), ("9" * 4000, "9" * 3999), ("1." + "9" * 4000, "2"), ("100.0.0", "99.99.99"), ("3.10", "3.9.9"), ("1.2", "1.20"), ("1.20", "1.2"), ("1.002", "1.02"), ("10.0", "9.0"), ("2.0", "10"), ("1.5", "1.05"), ("01", "1"), (str(10**30 + 1), str(10**30)), (str(10**30), str(10**30 + 1)), ("1" + ".0" * 40, "1"), ("1" + ".0" * 40 + ".1", "1"), ("1", "1" + ".0" * 40 + ".1")):
        yield pair(a, b)
    while True:
        a = dotted(random)
        parts = a.split(".")
        parts[random.randrange(len(parts))] = str(number(random))
        yield pair(a, random.choice([a, a + ".0", a + ".1", dotted(random), ".".join(parts), ".".join(parts[:-1]) or "0"]))


def plain(random):
    for a, b in (("2", "1"), ("1", "2"), ("1.2", "1.1"), ("3", "3"), ("1.1", "1.2")):
        yield pair(a, b)
    while True:
        yield pair(str(random.randint(1, 9)), str(random.randint(1, 9)))
