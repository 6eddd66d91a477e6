"""The command line of our commands: the base of them all, what they are to read, and a file with further options.

Not in `commands`, where Scrapy takes each class for a command, and imported by that package alone. Start reading in
`base.py`.
"""
