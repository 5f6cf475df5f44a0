"""Programs that run where only a driver is installed: given a browser's address, a site and a script of actions."""
