"""What makes a recording of what is reported: order, clock, states, pauses. It knows no browser."""
