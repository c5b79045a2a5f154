"""From run directories on disk to tables, figures and the report.

Nothing here sees a live object: `load` reads committed files into frozen records, `select` arranges runs into rows and
columns, `measure` turns runs into numbers, and `tables`, `figures` and `report` show them. Three rules hold
everywhere: a missing number is shown as missing and never as 0; a number says how many episodes it rests on out of
how many planned; and whatever a simulated backbone took part in carries a banner.
"""
