"""Text encoders. Each gives equal vectors for equal texts, whatever else is embedded in the same call.

`minilm` and `wordllama` run offline from files in installed packages; `sentence_transformers` and `litellm` reach any
other model. `cache` keeps vectors on disk between runs.
"""
