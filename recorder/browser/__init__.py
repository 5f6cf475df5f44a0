"""The browser under recording: finding and starting one, its contexts and tabs, what it tells over CDP."""
