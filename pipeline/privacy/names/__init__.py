"""Names of persons and postal addresses: found on demand, and each replaced by a stand-in of its own."""
