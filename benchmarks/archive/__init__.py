"""The archive of the network, compared with what a server sent and received."""
