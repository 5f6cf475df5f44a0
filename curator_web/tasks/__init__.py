"""The bank of tasks of a project: proposals, decisions, who does which next, and what is covered."""
