"""Commands and packages in processes and environments of their own."""
