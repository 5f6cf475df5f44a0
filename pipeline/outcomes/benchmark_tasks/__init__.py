"""Tasks of VisualWebArena and WebArena-Verified: conversion between their task JSON and outcome checks."""
