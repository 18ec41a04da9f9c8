"""The pages: functions from data to what the templates make of it."""
