"""Metrics for Prometheus and traces for OpenTelemetry, with the extras `production` and `traces`."""
