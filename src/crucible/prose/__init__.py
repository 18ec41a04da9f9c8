"""What stands around a council in prose: what seats are shown, who judges, and a clerk who reads it afterwards."""
