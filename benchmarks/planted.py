"""Do the statistics say what they promise? python benchmarks/planted.py [SIMULATIONS]

Simulated studies with known effects go through `analysis.from_frame(…).effects()` and the planner: coverage of the
95 % intervals, the family's error under the null after Holm, twins, and the power that was promised.
"""

import gc
import sys

import numpy as np
import pandas as pd

from analysis import from_frame
from analysis.judgement import Judgement
from analysis.power import detectable, equivalence_power, seeds_to_equivalence
from analysis.results import Results
from analysis.verdict import verdicts

SEED_NOISE, NOISE = 0.03, 0.01  # what a seed does to all arms, and what is left between them; nats/token


def study(random: np.random.Generator, seeds: int, effects: list[float], margin: float | None = None) -> Results:
    """A baseline and an arm for each effect."""
    luck = random.normal(2.0, SEED_NOISE, seeds)
    arms = {"baseline": 0.0} | {f"arm {number}": effect for number, effect in enumerate(effects)}
    columns = [
        pd.DataFrame(
            {
                "arm": arm,
                "seed": range(seeds),
                "step": 1,
                "loss": luck + effect + random.normal(0, NOISE / 2**0.5, seeds),
            }
        )
        for arm, effect in arms.items()
    ]  # so that differences have the standard deviation NOISE
    return from_frame(pd.concat(columns), endpoints={"loss": "final"}, margin={"loss": margin} if margin else None)


def coverage(simulations: int, seeds: int, truth: float = 0.007) -> float:
    """How often the interval holds the true effect."""
    random = np.random.default_rng(seeds)
    found = [study(random, seeds, [truth]).effects().iloc[0] for _ in range(simulations)]
    return float(np.mean([row.low <= truth <= row.high for row in found]))


def family_error(simulations: int, seeds: int, arms: int = 5) -> float:
    """How often any of several arms without an effect is called different."""
    random = np.random.default_rng(1000 + seeds)
    return float(
        np.mean([(study(random, seeds, [0.0] * arms).effects().p_holm < 0.05).any() for _ in range(simulations)])
    )


def power(simulations: int, seeds: int) -> float:
    """How often the effect is seen that the planner says these seeds see with a chance of 80 %."""
    random = np.random.default_rng(2000 + seeds)
    size = detectable(seeds) * NOISE
    return float(np.mean([study(random, seeds, [size]).effects().p_holm.iloc[0] < 0.05 for _ in range(simulations)]))


def equivalence(simulations: int, margin: float = 0.01) -> tuple[int, float, float]:
    """With the seeds that the planner wants: how often no effect is called equivalent, and what was promised."""
    seeds = seeds_to_equivalence(margin / NOISE) or 2
    random = np.random.default_rng(3000)
    judged = [verdicts(study(random, seeds, [0.0], margin))[0].judgement for _ in range(simulations)]
    return (
        seeds,
        float(np.mean([each is Judgement.equivalent for each in judged])),
        equivalence_power(margin / NOISE, seeds),
    )


def twins() -> str:
    """What is said of an arm whose every trial is the baseline's."""
    alone = study(np.random.default_rng(0), 8, [])
    both = pd.concat([alone.history, alone.history.assign(arm="twin")])
    (verdict,) = verdicts(from_frame(both, endpoints={"loss": "final"}))
    return f"{verdict.judgement} (effect {verdict.effect['effect']:g}, p {verdict.effect['p']})"


def main(simulations: int) -> None:
    """A line a promise."""
    gc.freeze()  # statsmodels collects garbage at every correction
    for seeds in (6, 10, 20):
        print(f"n = {seeds}: 95 % intervals hold the truth in {100 * coverage(simulations, seeds):.1f} %", flush=True)
    for seeds in (6, 10):
        share = 100 * family_error(simulations, seeds)
        print(f"n = {seeds}: 5 arms without effect, any called different in {share:.1f} %", flush=True)
    for seeds in (6, 10, 20):
        print(
            f"n = {seeds}: the effect promised with 80 % is seen in {100 * power(simulations, seeds):.1f} %", flush=True
        )
    seeds, found, promised = equivalence(simulations)
    print(f"n = {seeds}: no effect is called equivalent in {100 * found:.1f} %, promised {100 * promised:.1f} %")
    print(f"twins are called {twins()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 2000)
