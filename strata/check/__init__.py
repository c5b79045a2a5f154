"""Tries out a memory or an environment of your own.

    python -m strata.check memory package.module:Class [key=value ...]
    python -m strata.check environment package.module:Class [key=value ...]

Every fault comes with the mistake that usually causes it. `samples` and `scripted` hold what the checks run on and
may serve your own tests: episodes, and a language model that answers from a script.
"""
