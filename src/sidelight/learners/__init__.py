"""The learners: options, accepted evidence, requirements, settings in use, and the training loop for a fit's data.

Each family is one file. Loops that several families share are in `rounds`.
"""
