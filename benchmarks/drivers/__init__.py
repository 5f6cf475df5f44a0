"""Sessions of browser drivers of agents, recorded, compared with what the drivers did."""
