"""The TCN, the Transformer encoder, and the network that joins them."""
