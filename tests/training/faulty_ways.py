"""How accumulation goes wrong elsewhere, as code: every way must fail the property the right way passes.

A way takes the same arguments as `right_way` and trains the model in place over all batches of one epoch,
each an effective batch of `micro` windows x `steps`. It returns the number of updates it applied.
"""
