"""The review app beside Label Studio, and exports imported into it."""
