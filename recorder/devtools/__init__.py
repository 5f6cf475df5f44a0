"""The Chrome DevTools Protocol: sessions, the recorder's own connection to a browser, and where one is reached."""
