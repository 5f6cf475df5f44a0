"""Account, project and services of a request, which pages and API share."""
