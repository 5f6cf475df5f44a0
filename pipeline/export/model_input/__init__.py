"""What a model is given: ranked candidates, pruned pages, truncated texts, set of marks."""
