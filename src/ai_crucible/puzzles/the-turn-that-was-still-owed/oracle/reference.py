"""Right answers by a way of their own: tick by tick, with tables of who waits for whom; large numbers are small ones, stretched."""

from fractions import Fraction
from itertools import count


def closure(jobs):
    """Return for each job all that it waits for, through others too."""
    waits = {name: set(job["after"]) for name, job in jobs.items()}
    for middle in jobs:
        for name in jobs:
            if middle in waits[name]:
                waits[name] = waits[name] | waits[middle]
    return waits


def waiting_now(jobs, state, name):
    """Return the jobs that are not over and that a job waits for, through such as are not over."""
    found, more = set(), {name}
    while more:
        more = {each for one in more for each in jobs[one]["after"] if state[each] not in ("done", "dropped")} - found
        found |= more
    return found


class Days:
    """A machine that is looked at before each tick."""

    def __init__(self, slots, weights, jobs):
        self.slots, self.weights, self.jobs = slots, weights, jobs
        self.state = dict.fromkeys(jobs, "away")
        self.did, self.ran, self.since, self.over = ({name: None if kind is None else 0 for name in jobs} for kind in (0, 0, None, None))
        self.used = dict.fromkeys(weights, 0)
        self.runs = []
        self.waits = closure(jobs)

    def shut(self, name, now):
        if self.since[name] is not None:
            self.runs.append((self.since[name], now, name))
            self.since[name] = None

    def happens(self, now):
        """Let happen what does before a tick; tell whether something did."""
        something = False
        for name, job in self.jobs.items():
            if self.state[name] == "here" and self.since[name] is not None and self.did[name] == job["ticks"]:
                self.shut(name, now)
                self.state[name], self.over[name] = "done", now
                something = True
        for name, job in self.jobs.items():
            if self.state[name] == "away" and job["at"] == now:
                self.state[name] = "here"
                something = True
        late = {name for name, job in self.jobs.items() if self.state[name] == "here" and job["until"] is not None and now >= job["until"]}
        late |= {name for name in self.jobs if self.state[name] == "dropped"}
        for name in self.jobs:
            if self.state[name] == "here" and (name in late or self.waits[name] & late):
                self.shut(name, now)
                self.state[name], self.over[name] = "dropped", now
                something = True
        return something

    def picks(self):
        """Return what is to run."""
        rank = {name: max([job["priority"], *(other["priority"] for key, other in self.jobs.items() if self.state[key] == "here" and name in waiting_now(self.jobs, self.state, key))]) for name, job in self.jobs.items()}
        pool = [name for name, job in self.jobs.items() if self.state[name] == "here" and all(self.state[each] == "done" for each in job["after"])]
        free, has, picked, bar = self.slots, dict.fromkeys(self.weights, 0), [], None
        while pool:
            top = max(rank[name] for name in pool)
            best = [name for name in pool if rank[name] == top]
            for value in (lambda name: Fraction(has[self.jobs[name]["user"]], self.weights[self.jobs[name]["user"]]), lambda name: Fraction(self.used[self.jobs[name]["user"]], self.weights[self.jobs[name]["user"]]), lambda name: self.since[name] is None, lambda name: self.jobs[name]["at"]):
                least = min(map(value, best))
                best = [name for name in best if value(name) == least]
            name = best[0]
            pool.remove(name)
            job = self.jobs[name]
            if bar is not None and top < bar and self.since[name] is None:
                continue
            if job["slots"] > free:
                bar = top if bar is None else bar
                continue
            free -= job["slots"]
            has[job["user"]] += job["slots"]
            picked.append(name)
        return picked

    def decides(self, now):
        picked = self.picks()
        for name, job in self.jobs.items():
            if self.since[name] is not None and name not in picked:
                self.shut(name, now)
                self.did[name] = self.did[name] // job["save"] * job["save"] if job["save"] else 0
            elif name in picked and self.since[name] is None:
                self.since[name] = now

    def at_an_end(self):
        busy = any(state == "away" for state in self.state.values()) or any(since is not None for since in self.since.values())
        return not busy and not any(self.state[name] == "here" and job["until"] is not None for name, job in self.jobs.items())

    def all(self):
        for now in count():
            if self.happens(now):
                self.decides(now)
            if self.at_an_end():
                break
            for name, job in self.jobs.items():
                if self.since[name] is not None:
                    self.did[name] += 1
                    self.ran[name] += 1
                    self.used[job["user"]] += job["slots"]
        return self

    def told(self, times=1):
        order = list(self.jobs)
        runs = [[start * times, end * times, name] for start, end, name in sorted(self.runs, key=lambda run: (run[0], order.index(run[2])))]
        outcomes = {}
        for name, job in self.jobs.items():
            lost = {"done": self.ran[name] - job["ticks"], "dropped": self.ran[name], "here": 0}[self.state[name]] * times
            outcomes[name] = ["waiting" if self.state[name] == "here" else self.state[name], None if self.over[name] is None else self.over[name] * times, lost]
        return [runs, outcomes, {user: ticks * times for user, ticks in self.used.items()}]


def text_of(random, slots, weights, jobs, times=1):
    lines = [f"slots {slots}", *(f"user {name} {weight}" for name, weight in weights.items())]
    for name, job in jobs.items():
        pairs = []
        if job["priority"]:
            pairs.append(f"priority {job['priority']}")
        if job["at"] or random.random() < 0.1:
            pairs.append(f"at {job['at'] * times}")
        if job["after"]:
            pairs.append("after " + ",".join(job["after"]))
        if job["save"]:
            pairs.append(f"save {job['save'] * times}")
        if job["until"] is not None:
            pairs.append(f"until {job['until'] * times}")
        random.shuffle(pairs)
        lines.append(" ".join([f"job {name} {job['user']} {job['slots']} {job['ticks'] * times}", *pairs]))
    return "\n".join(lines) + "\n"


def table(random, most=9, users=3, waits=0.35, until=0.2, save=0.4, spread=3, ats=12, slots=(1, 2, 2, 3, 4, 6)):
    slots = random.choice(slots)
    weights = {name: random.choice([1, 1, 2, 3]) for name in random.sample(["ann", "bob", "cid"], random.randint(1, users))}
    names = random.sample("abcdefghij", random.randint(2, most))
    jobs = {}
    for place, name in enumerate(names):
        after = []
        if random.random() < waits:
            others = names if random.random() < 0.1 else names[:place] + names[place + 1 :] if random.random() < 0.2 else names[:place] if random.random() < 0.5 else names[place + 1 :]
            after = random.sample(others, min(len(others), random.choice([1, 1, 2])))
        ticks, at = random.choice([1, 2, 3, 5, 8, 12]), random.choice([0, 0, random.randint(0, ats)])
        jobs[name] = {"user": random.choice(list(weights)), "slots": random.choice([1, 1, slots, random.randint(1, slots)]), "ticks": ticks, "priority": random.choice([0, 0, 0, *range(-1, spread)]), "at": at, "after": after, "save": random.choice([1, 2, 3, 4, 5, 20]) if random.random() < save else None, "until": max(0, at + random.choice([ticks, ticks, ticks + 3, 9, 20, -1, 0])) if random.random() < until else None}
    return slots, weights, jobs


def some(random, **how):
    while True:
        one = table(random, **how)
        yield {"args": [text_of(random, *one)], "expect": Days(*one).all().told()}


def mixed(random):
    yield from some(random)


def ranks(random):
    yield from some(random, waits=0.6, until=0.05, spread=5, slots=(1, 1, 2, 3))


def shares(random):
    yield from some(random, most=10, waits=0.05, until=0, save=0.8, spread=1, slots=(1, 2, 3, 4))


def narrow(random):
    for case in some(random, waits=0.05, until=0.05, spread=4, slots=(3, 4, 5, 6)):
        yield case
        yield in_between(random)


def in_between(random):
    """A job that was running gives way to what did not find its slots, and another of its own rank comes."""
    own = {"after": [], "save": None, "until": None, "user": "ann"}
    at, low = random.randint(1, 9), random.randint(0, 2)
    jobs = {
        "a": {**own, "slots": 2, "ticks": random.randint(1, 5), "priority": 6, "at": at},
        "b": {**own, "slots": 3, "ticks": random.randint(1, 5), "priority": random.randint(low + 1, 5), "at": at},
        "c": {**own, "slots": random.randint(3, 4), "ticks": 20, "priority": low, "at": 0},
        "d": {**own, "slots": random.randint(1, 2), "ticks": 3, "priority": low, "at": at + random.choice([0, 0, 1])},
    }
    one = 4, {"ann": 1}, jobs
    return {"args": [text_of(random, *one)], "expect": Days(*one).all().told()}


def stops(random):
    yield from some(random, most=6, users=2, waits=0.1, until=0.15, save=0.85, spread=5, slots=(1, 2), ats=25)


def drops(random):
    yield from some(random, waits=0.6, until=0.5, ats=20)


def large(random):
    while True:
        one = table(random, 7)
        times = random.choice([10**6 + 3, 10**12, 10**30 + 7])
        yield {"args": [text_of(random, *one, times)], "expect": Days(*one).all().told(times)}


def exact(random):
    """Users who have used nearly the same."""
    while True:
        big, more = 10**17 * random.randint(1, 9), random.choice([0, 1, 1, 2])
        first, second = random.sample(["ann", "bob"], 2)
        weight = random.choice([1, 3, 7])
        text = f"slots 2\nuser {first} {weight}\nuser {second} {weight}\njob a {first} 1 {big + more}\njob b {second} 1 {big + 1}\njob c {first} 2 5 at {big + 2}\njob d {second} 2 5 at {big + 2}\n"
        begin, sooner = big + 2, more <= 1
        runs = [[0, big + more, "a"], [0, big + 1, "b"], [begin, begin + 5, "c" if sooner else "d"], [begin + 5, begin + 10, "d" if sooner else "c"]]
        ends = {"a": ["done", big + more, 0], "b": ["done", big + 1, 0], "c": ["done", begin + (5 if sooner else 10), 0], "d": ["done", begin + (10 if sooner else 5), 0]}
        yield {"args": [text], "expect": [runs, ends, {first: big + more + 10, second: big + 11}]}


def lines(random):
    yield {"args": [3, 0], "expect": ["j0", "middle", 5, False]}
    yield {"args": [3, 2], "expect": ["j0", "j2", 4, True]}
    yield {"args": [60, 0], "expect": ["j0", "middle", 62, False]}


def texts(random):
    yield {"args": ["# x\n slots 3\n\nuser u 2\njob a u 3 4 until 9 after b,c priority -1\njob b u 1 1 save 5 at 2\njob c u 2 7\n"], "expect": [3, {"u": 2}, [["a", "u", 3, 4, -1, 0, ("b", "c"), None, 9], ["b", "u", 1, 1, 0, 2, (), 5, None], ["c", "u", 2, 7, 0, 0, (), None, None]]]}
    head = "slots 2\nuser u 1\n"
    for text, line in (("", 1), ("slots\n", 1), ("slots 0\n", 1), ("user u 1\n", 1), ("slots 1\nuser u\n", 2), ("slots 1\nuser u 0\n", 2), (head + "user u 1\n", 3), (head + "job a v 1 1\n", 3), (head + "job a u 3 1\n", 3), (head + "job a u 0 1\n", 3), (head + "job a u 1 0\n", 3), (head + "job a u 1\n", 3), (head + "job a u 1 1 at\n", 3), (head + "job a u 1 1 at -1\n", 3), (head + "job a u 1 1 at 1 at 1\n", 3), (head + "job a u 1 1 save 0\n", 3), (head + "job a u 1 1 what 0\n", 3), (head + "job a u 1 1 after b\njob c u 1 1\n", 3), (head + "job a u 1 1\njob a u 1 1\n", 4), (head + "what\n", 3), (head + "job A u 1 1\n", 3)):
        yield {"args": [text], "expect": ["fault", line, True]}


def commands(random):
    yield {"args": ["slots 1\nuser u 1\njob a u 1 4 save 3\njob b u 1 1 priority 1 at 2 until 9\njob c u 1 9 until 6\njob d u 1 1 after d\n"], "expect": [0, "0 to 2: a\n2 to 3: b\n3 to 7: a\na: done at 7, 2 lost\nb: done at 3, 0 lost\nc: dropped at 6, 0 lost\nd: waiting, 0 lost\n"]}
    yield {"args": ["slots x\n"], "expect": [1, ""]}
    yield {"args": ["slots 1\n"], "expect": [0, ""]}


def suite(random):
    names = ["tests/test_simulate.py", "tests/test_table.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 5 and set(seen.values()) == {"passed"}}
