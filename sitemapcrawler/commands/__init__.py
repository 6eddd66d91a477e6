"""The commands, one a module. Scrapy imports this package before it looks for any of them."""

from sitemapcrawler.commands.needed import require

require()
