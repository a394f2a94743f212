"""Tests: unit, integration, acceptance, chaos, benchmarks. One that lacks a service or data skips, and says so."""
