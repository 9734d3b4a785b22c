"""Requests that were really made: files of them, and their replay."""
