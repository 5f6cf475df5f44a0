"""The JSON API of demonstrations: turns, edits, network, outcomes, proofs."""
