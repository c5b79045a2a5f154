"""Prompts as data: text files with a version, filled by `$name`, and the renderings that several of them share.

A prompt file `<owner>/<name>.txt` starts with a line `version: N`; the rest is the text. A run's configuration may
replace one by a file of the user's (`prompts.<owner>/<name>=path`); what was used is hashed into the run's identity.

Prompts that want a structured reply end with a list of fields, one a line:

    - steps (list of text): the procedure, one action a line

so that one reader (`strata.prompts.fields`) serves them all and any backbone can see what is asked. The vocabulary:

    title     text            a short name
    steps     list of text    actions in order, in the environment's action grammar, specific names generalised
    when      text            when it applies and what it achieves
    lesson    text            what to do, or to avoid, next time
    reason    text            why
    keywords  list of text    words to find it by
    tags      list of text    `app:*`, `op:*`, `obj:*`
    kinds     list of text    a choice among those named in the field's description
    indices   list of number  items of a numbered list in the prompt, counted from 1
    decision  text            one of those named in the field's description
    success   yes or no       whether the task was achieved
"""

from __future__ import annotations

from strata.prompts.library import Prompt, PromptLibrary
from strata.prompts.messages import build_messages, render_trajectory

__all__ = ["Prompt", "PromptLibrary", "build_messages", "render_trajectory"]
