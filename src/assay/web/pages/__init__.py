"""The pages as markup: functions from data to elements, which escape themselves."""
