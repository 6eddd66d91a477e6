"""What a fleet came to: a table with a row for each domain, and a page for people, made of the data set by SQL."""
