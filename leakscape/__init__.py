"""Measures the privacy-capability landscape of fine-tuning a language model on sensitive records.

Importing this package loads neither kfp nor torch nor vllm: heavy libraries are imported by the functions that
need them.
"""

__version__ = "0.1.0"
