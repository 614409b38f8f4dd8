"""Judges IBANs with schwifty, for the tests. `random COUNT SEED` prints IBANs of random countries; `judge` answers each line of
its input with `good` or with the name of what is wrong; `countries` prints the countries it knows."""

import random
import sys

from schwifty import IBAN, registry
from schwifty.exceptions import SchwiftyException


def verdict(text):
    try:
        IBAN(text)
    except SchwiftyException as error:
        return type(error).__name__
    return "good"


def main(what, *numbers):
    countries = sorted(registry.get_countries())
    if what == "countries":
        print(" ".join(countries))
    elif what == "random":
        count, seed = map(int, numbers)
        source = random.Random(seed)
        for _ in range(count):
            print(IBAN.random(source.choice(countries), random=source, use_registry=False))
    else:
        for line in sys.stdin:
            print(verdict(line.rstrip("\n")))


main(*sys.argv[1:])
