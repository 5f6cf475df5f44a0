"""Signing in at an OpenID provider, with the extra `openid`."""
