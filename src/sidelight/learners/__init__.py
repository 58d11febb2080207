"""Every learner: its options, what it takes, needs and heeds, and how a fit's data becomes the loop that learns.

A family is one file. A loop that several families share is in `rounds`.
"""
