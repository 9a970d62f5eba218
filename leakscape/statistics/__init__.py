"""How sure a figure is: intervals, paired tests, power and ranks. Pure functions of arrays and seeds."""
