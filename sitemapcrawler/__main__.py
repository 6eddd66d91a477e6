"""`python -m sitemapcrawler`: the console script."""

from sitemapcrawler.cli import main

main()
