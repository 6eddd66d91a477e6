"""Safe and polite default settings of the project; docs/settings.md explains each one."""

from sitemapcrawler.version import __version__

BOT_NAME = "sitemapcrawler"
SPIDER_MODULES = ["sitemapcrawler.spiders"]
COMMANDS_MODULE = "sitemapcrawler.commands"

# Identity and politeness.
USER_AGENT = f"sitemapcrawler/{__version__} (reads sitemaps, obeys robots.txt)"
SITEMAP_CONTACT_URL = ""
ROBOTSTXT_OBEY = True
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 4
DOWNLOAD_DELAY = 0.11
DOWNLOAD_DELAY_JITTER = 0.0
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.1
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
AUTOTHROTTLE_MAX_DELAY = 30.0
DOWNLOAD_TIMEOUT = 60
RETRY_TIMES = 2
SITEMAP_MAX_HOST_ERRORS = 20
COOKIES_ENABLED = False
SITEMAP_AUTH = ""

# Limits on untrusted input. Non-public addresses are refused unless the user names them or allows their network.
SITEMAP_ALLOW_NETWORKS: list[str] = []
DOWNLOAD_MAXSIZE = 64 * 1024 * 1024
SITEMAP_MAX_BYTES = 100 * 1024 * 1024
SITEMAP_MAX_SITE_TIME = 3600.0
SITEMAP_MAX_ROBOTS = 500
DOWNLOAD_FAIL_ON_DATALOSS = False
SITEMAP_VERIFY_CERTIFICATES = True
DOWNLOAD_HANDLERS = {
    "http": "sitemapcrawler.download.handlers.GuardedDownloadHandler",
    "https": "sitemapcrawler.download.handlers.GuardedDownloadHandler",
    "file": "sitemapcrawler.download.handlers.NamedFileHandler",
    "data": None,
    "ftp": None,
    "s3": None,
}
HTTPERROR_ALLOW_ALL = True
METAREFRESH_ENABLED = False
URLLENGTH_LIMIT = 0
DEPTH_LIMIT = 0
REDIRECT_MAX_TIMES = 10
DOWNLOAD_SLOTS = {"file": {"delay": 0, "concurrency": 8}, "search-console": {"delay": 0.1, "concurrency": 8}}
SITEMAP_GSC_ENDPOINT = "https://searchconsole.googleapis.com"
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "sitemapcrawler.middlewares.adapted.StoppableRetryMiddleware": 550,
    "sitemapcrawler.middlewares.politeness.PolitenessMiddleware": 560,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "sitemapcrawler.middlewares.adapted.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "sitemapcrawler.middlewares.adapted.CollectedBodyCompressionMiddleware": 590,
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": None,
    "sitemapcrawler.middlewares.adapted.CollectedBodyCacheMiddleware": 900,
    "sitemapcrawler.middlewares.cache.BodyCacheMiddleware": 910,
    "sitemapcrawler.middlewares.credentials.CredentialsMiddleware": 950,
}
SPIDER_MIDDLEWARES = {"scrapy.spidermiddlewares.start.StartSpiderMiddleware": None}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

# Flow of records: a batch is one item, and items pass one at a time.
SITEMAP_ITEMS = "auto"
CONCURRENT_ITEMS = 1
SITEMAP_STOP_GRACE = 10.0
EXTENSIONS = {
    "sitemapcrawler.extensions.logs.InertLog": 0,
    "sitemapcrawler.download.bodies.BodyCollector": 100,
    "sitemapcrawler.extensions.stopping.Stopping": 110,
    "sitemapcrawler.feeds.reporting.Reporting": 130,
    "sitemapcrawler.extensions.progress.ProgressDisplay": 800,
    "sitemapcrawler.extensions.stopping.ClosingLine": 900,
    "sitemapcrawler.extensions.notifying.Notifying": 910,
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.feedexport.FeedExporter": None,
    "sitemapcrawler.feeds.whole.WholeFeedExporter": 0,
}
SITEMAP_FINDINGS_PER_RULE = 100
SITEMAP_SEVERITIES: dict[str, str] = {}
SITEMAP_ALLOW = ""
SITEMAP_RULES: list[str] = []
ITEM_PIPELINES = {
    "sitemapcrawler.pipelines.structure.StructurePipeline": 100,
    "sitemapcrawler.pipelines.robots.RobotsPipeline": 200,
    "sitemapcrawler.pipelines.status.StatusPipeline": 300,
    "sitemapcrawler.pipelines.store.StorePipeline": 400,
    "sitemapcrawler.pipelines.summary.SummaryPipeline": 900,
}

# Job database.
SITEMAP_STORE = True
SITEMAP_STORE_MEMORY = 500

# Output.
FEED_EXPORT_ENCODING = "utf-8"
FEED_URI_PARAMS = "sitemapcrawler.crawl.state.uri_params"
FEED_EXPORTERS = {
    "xml": None,
    "pickle": None,
    "marshal": None,
    "csv": "sitemapcrawler.feeds.exporters.CsvExporter",
    "json": "sitemapcrawler.feeds.exporters.JsonExporter",
    "jsonlines": "sitemapcrawler.feeds.exporters.JsonLinesExporter",
    "jsonl": "sitemapcrawler.feeds.exporters.JsonLinesExporter",
    "jl": "sitemapcrawler.feeds.exporters.JsonLinesExporter",
    "parquet": "sitemapcrawler.feeds.exporters.ParquetExporter",
    "xlsx": "sitemapcrawler.feeds.workbook.WorkbookExporter",
    "sarif": "sitemapcrawler.feeds.findings.SarifExporter",
    "junit": "sitemapcrawler.feeds.findings.JUnitExporter",
    "indexnow": "sitemapcrawler.feeds.indexnow.IndexNowExporter",
}
FEED_STORAGES = {
    "": "sitemapcrawler.feeds.storages.AtomicFileStorage",
    "file": "sitemapcrawler.feeds.storages.AtomicFileStorage",
    "stdout": "sitemapcrawler.feeds.storages.StandardOutputStorage",
    "report": "sitemapcrawler.feeds.reporting.ReportStorage",
}

# Progress and log.
SITEMAP_PROGRESS = True
LOG_LEVEL = "INFO"
LOG_FORMATTER = "sitemapcrawler.extensions.stopping.BriefFormatter"
STATS_DUMP = False
